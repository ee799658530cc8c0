#!/bin/sh
# Run every fuzzer: over its corpus, or with SECONDS for that long each.
#     corpus.sh [SECONDS]
set -eu
seconds=${1-0}
cd "${top_builddir:?}/tests/fuzz"
for name in lines maps offsets; do
	corpus=${top_srcdir:?}/tests/fuzz/$name.corpus
	if ./fuzz-$name -help=1 2>/dev/null | grep -q max_total_time; then
		scratch=$(mktemp -d)
		cp "$corpus"/* "$scratch"
		./fuzz-$name -max_total_time="$seconds" -runs=$([ "$seconds" = 0 ] && echo 0 || echo -1) "$scratch"
		rm -rf "$scratch"
	else
		./fuzz-$name "$seconds" "$corpus"/*
	fi
done
