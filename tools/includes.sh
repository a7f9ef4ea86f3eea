#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Which folder of c_src includes which.
#
#	tools/includes.sh           the matrix: a row includes its columns, so many times
#	tools/includes.sh --check   against the arrows of doc/architecture.md: every include follows one,
#	                            every arrow is followed, and there is no cycle
#
# The files of c_src itself are "top"; the public header is "public". A folder inside a folder belongs
# to it, unless that has floors, as beam has: rows of their own among the arrows, such as beam/vm.
set -euo pipefail
cd "$(dirname "$0")/.."

# "FROM TO" for each include of another folder's header
edges() {
	grep -rH '^#include "' c_src --include='*.[ch]' --include='*.def' |
		awk -F'[:"]' -v floored="$(floored | tr '\n' ' ')" '
		# of a file of c_src: the folder, or the floor of it
		function folder(path,	part, n) {
			n = split(path, part, "/")
			if (n > 2 && index(" " floored, " " part[1] " "))
				return part[1] "/" part[2]
			return n > 1 ? part[1] : "top"
		}
		{
			from = folder(substr($1, length("c_src/") + 1))
			path = $3
			own = $1
			sub(/[^\/]*$/, path, own)
			if (path == "erltrace.h")
				to = "public"
			else if (path ~ /\.\.\//)
				to = path # is written from c_src, as all others
			else if ((getline line < own) >= 0) { # from the folder of the file that includes it
				close(own)
				to = folder(substr(own, length("c_src/") + 1))
			} else if ((getline line < ("c_src/" path)) >= 0) {
				close("c_src/" path)
				to = folder(path)
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

# Folders that have floors: of rows such as "beam/vm -> ..." the first part.
floored() {
	awk '/^```arrows/ { on = 1; next } /^```/ { on = 0 }
		on && $2 == "->" && sub("/.*", "", $1) { print $1 }' doc/architecture.md | sort -u
}

# In an order where each folder stands below those that it includes: all is left of the diagonal.
matrix() {
	local order
	order=$(edges | sort -u | tsort 2>/dev/null | tac | tr '\n' ' ')
	edges | awk -v order="$order" '
		{ n[$1, $2]++ }
		END {
			count = split(order, name, " ")
			printf "%-14s", ""
			for (j = 1; j <= count; j++)
				printf "  %s", name[j]
			print ""
			for (i = 1; i <= count; i++) {
				printf "%-14s", name[i]
				for (j = 1; j <= count; j++)
					printf "%" length(name[j]) + 2 "s", (name[i], name[j]) in n ? n[name[i], name[j]] : "."
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
