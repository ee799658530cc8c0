#!/bin/sh
# Hold the options in the man page against the rows: check-man.sh [--update] MAN-OPTIONS PYSTILL.1
set -eu
update=no
if [ "${1-}" = --update ]; then
	update=yes
	shift
fi
program=${1-${top_builddir:?}/utils/man-options}
page=${2-${top_srcdir:?}/docs/pystill.1}
new=$(mktemp)
trap 'rm -f "$new"' EXIT
"$program" >"$new.options"
awk -v options="$new.options" '
	/^\.\\" END OPTIONS/ { skip = 0 }
	!skip
	/^\.\\" BEGIN OPTIONS/ { skip = 1; while ((getline line < options) > 0) print line }
' "$page" >"$new"
rm -f "$new.options"
if cmp -s "$new" "$page"; then
	exit 0
elif [ $update = yes ]; then
	cat "$new" >"$page"
else
	echo "$page does not have the options as they are; run: make update-man"
	exit 1
fi
