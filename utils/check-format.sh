#!/bin/sh
# Print the C files that clang-format would change: utils/check-format.sh [TOPDIR]
# Exit status: 0 when there are none, 1 when there are some, 77 (a skip) without
# clang-format. CLANG_FORMAT may name the program.
set -eu

find_tool()
{
	for tool in "${CLANG_FORMAT:-}" clang-format-14 clang-format; do
		if [ -n "$tool" ] && command -v "$tool" >/dev/null; then
			echo "$tool"
			return
		fi
	done
}

cd "${1:-${top_srcdir:-$(dirname "$0")/..}}"
tool=$(find_tool)
if [ -z "$tool" ]; then
	echo "skip: no clang-format (package clang-format-14)"
	exit 77
fi
# A file that clang-format cannot read is one of those printed, too.
find src abi include tests -name '*.[ch]' -type f -exec sh -c '
	for file; do
		"$0" --style=file --dry-run -Werror "$file" 2>/dev/null || echo "$file"
	done' "$tool" {} + | sort | {
	status=0
	while read -r file; do
		echo "$file"
		status=1
	done
	exit $status
}
