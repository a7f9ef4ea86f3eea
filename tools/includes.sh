#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Which folder of c_src includes which.
#
#	tools/includes.sh           the matrix: a row includes its columns, so many times
#	tools/includes.sh --check   against the arrows of doc/architecture.md: every include follows one,
#	                            every arrow is followed, and there is no cycle
#
# The files of c_src itself are "top"; a folder inside a folder belongs to it. The public header
# is "public".
set -euo pipefail
cd "$(dirname "$0")/.."

# "FROM TO" for each include of another folder's header
edges() {
	grep -rH '^#include "' c_src --include='*.[ch]' --include='*.def' | awk -F'[:"]' '
		{
			n = split($1, file, "/")
			from = n > 2 ? file[2] : "top"
			path = $3
			m = split(path, part, "/")
			own = $1
			sub(/[^\/]*$/, path, own)
			if (path == "erltrace.h")
				to = "public"
			else if ((getline line < own) >= 0) { # beside the file that includes it
				close(own)
				next
			} else if ((getline line < ("c_src/" path)) >= 0) {
				close("c_src/" path)
				to = m > 1 ? part[1] : "top"
			} else
				next # made when building
			if (from != to)
				print from, to
		}'
}

# "FROM TO" for each arrow: lines of the block "arrows" such as "d -> prog bpf top"
arrows() {
	awk '/^```arrows/ { on = 1; next } /^```/ { on = 0 }
		on && $2 == "->" { for (i = 3; i <= NF; i++) print $1, $i }' doc/architecture.md
}

# In an order where each folder stands below those that it includes: all is left of the diagonal.
matrix() {
	local order
	order=$(edges | sort -u | tsort 2>/dev/null | tac | tr '\n' ' ')
	edges | awk -v order="$order" '
		{ n[$1, $2]++ }
		END {
			count = split(order, name, " ")
			printf "%-10s", ""
			for (j = 1; j <= count; j++)
				printf "%9s", name[j]
			print ""
			for (i = 1; i <= count; i++) {
				printf "%-10s", name[i]
				for (j = 1; j <= count; j++)
					printf "%9s", (name[i], name[j]) in n ? n[name[i], name[j]] : "."
				print ""
			}
		}'
}

check() {
	local bad=0 line cycle
	while read -r line; do
		echo "includes: no arrow in doc/architecture.md: ${line/ / -> }" \
			"($(grep -rl "^#include \"${line#* }/" "c_src/${line% *}" 2>/dev/null | head -3 | tr '\n' ' '))" >&2
		bad=1
	done < <(comm -23 <(edges | sort -u) <(arrows | sort -u))
	while read -r line; do
		echo "includes: an arrow that no include follows: ${line/ / -> }" >&2
		bad=1
	done < <(comm -13 <(edges | sort -u) <(arrows | sort -u))
	if ! cycle=$(arrows | tsort 2>&1 >/dev/null); then
		echo "includes: a cycle:" $cycle >&2
		bad=1
	fi
	return $bad
}

case ${1-} in
--check) check ;;
*) matrix ;;
esac
