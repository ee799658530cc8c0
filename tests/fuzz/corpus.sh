#!/bin/sh
# Run every fuzzer, all at a time: over its corpus, or with SECONDS for that long.
#     corpus.sh [SECONDS]
set -eu
seconds=${1-0}
cd "${top_builddir:?}/tests/fuzz"

run() { # NAME
	corpus=${top_srcdir:?}/tests/fuzz/$1.corpus
	if ./fuzz-"$1" -help=1 2>/dev/null | grep -q max_total_time; then
		scratch=$(mktemp -d)
		cp "$corpus"/* "$scratch"
		./fuzz-"$1" -max_total_time="$seconds" -runs=$([ "$seconds" = 0 ] && echo 0 || echo -1) "$scratch"
		rm -rf "$scratch"
	else
		./fuzz-"$1" "$seconds" "$corpus"/*
	fi
}

pids=
for name in lines maps offsets; do
	run $name &
	pids="$pids $!"
done
for pid in $pids; do
	wait "$pid"
done
