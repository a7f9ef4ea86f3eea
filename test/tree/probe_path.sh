#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Nothing on the probe path allocates, locks or calls the system. Functions that run while a probe
# fires, in the engine and in the NIF library, are marked PROBE_PATH and lie in the section
# .text.probe. This follows the relocations of that section in every object file, and fails for
#
#   - a function of ours that is called or pointed to from there and is not marked,
#   - any other function that is not in tools/probe-path.tab,
#   - an entry point of that table that is not marked.
#
# Tables of functions that the probe path uses count too: struct en_current_ops of the NIF library,
# say. tools/check-probe-path.sh follows the calls of the whole library, marked or not.
#
#   test/tree/probe_path.sh [DIR]     DIR: where the object files are (searched); build
#
# What it cannot see: calls through pointers that come from elsewhere (a clause's machine code), and
# what functions of the table do inside. The last line is "N passed, N failed".
set -eu

dir=${1:-build}
table=$(dirname "$0")/../../tools/probe-path.tab
objs=$(find "$dir" \( -path '*/engine/*' -o -path '*/prog/*' -o -path '*/c_src/term/*' -o -path '*/c_src/beam/*' \
	-o -path '*/c_src/api/*' \) \
	-name '*.o' ! -path '*san*' ! -path '*bpf/c_src*' | sort)
if [ -z "$objs" ]; then
	echo "probe_path: no object files of the engine below $dir" >&2
	exit 1
fi

# symbols of all files, then relocations of code on the probe path and of data
# shellcheck disable=SC2086
{
	sed 's/^/TAB /; s/^TAB #.*//' "$table"
	objdump -t $objs
	objdump -r -j .text.probe -j .data -j .data.rel -j .data.rel.local -j .data.rel.ro \
		-j .data.rel.ro.local $objs 2>/dev/null
} | awk '
	function hex(s,    i, n)
	{
		n = 0
		s = tolower(s)
		for (i = 1; i <= length(s); i++)
			n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
		return n
	}
	# the symbol that covers this place of a section: its number; 0: none
	function cover(o, sec, at,    i, k)
	{
		for (i = 1; i <= nin[o, sec]; i++) {
			k = in_sec[o, sec, i]
			if (from[k] <= at && (at < from[k] + size[k] || at == from[k]))
				return k
		}
		return 0
	}
	$1 == "TAB" {
		for (i = 3; i <= NF; i++)
			is[$2, $i] = 1
		if ($2 == "root")
			for (i = 3; i <= NF; i++)
				root[$i] = 1
		next
	}
	/^[^ ].*: +file format / {
		o = $1
		sub(/:$/, "", o)
		if (o ~ /\/c_src\/beam\//)
			has_beam = 1
		next
	}
	/^RELOCATION RECORDS FOR/ {
		sec = $4
		gsub(/\[|\]|:/, "", sec)
		next
	}
	# a symbol: address, seven flags, section, size, name
	/^[0-9a-f]+ [lgu! ][w ][C ][W ][Ii ][dD ][FfO ] / {
		kind = substr($0, index($0, " ") + 7, 1)
		split($0, part, "\t")
		n = split(part[1], left, " ")
		m = split(part[2], right, " ")
		if (left[n] ~ /^\.t(bss|data)/)
			kind = "O"
		if ((kind != "F" && kind != "O") || left[n] == "*UND*")
			next
		k = ++nsyms
		name[k] = right[m]
		file[k] = o
		section[k] = left[n]
		from[k] = hex(left[1])
		size[k] = hex(right[1])
		type[k] = kind
		in_sec[o, left[n], ++nin[o, left[n]]] = k
		here[o, right[m]] = k
		if (substr($0, index($0, " ") + 1, 1) != "l")
			anywhere[right[m]] = k
		if (left[n] == ".text.probe" && kind == "F")
			marked[right[m]] = 1
		next
	}
	# a relocation: offset, type, name with an addend
	/^[0-9a-f]+ R_/ {
		nrel++
		rel_file[nrel] = o
		rel_sec[nrel] = sec
		rel_at[nrel] = hex($1)
		add = 0
		to = $3
		if (match(to, /[-+]0x[0-9a-f]+$/)) {
			add = hex(substr(to, RSTART + 3)) * (substr(to, RSTART, 1) == "-" ? -1 : 1)
			to = substr(to, 1, RSTART - 1)
		}
		if ($2 ~ /PC32|PLT32|GOTPCREL/) # from behind the four bytes
			add += 4
		sub(/@.*$/, "", to)
		rel_to[nrel] = to
		rel_add[nrel] = add
		if (sec != ".text.probe")
			of_data[o, sec] = of_data[o, sec] " " nrel
	}
	function say(text)
	{
		if (!(text in said))
			print "probe_path: " text
		said[text] = 1
		bad = 1
	}
	function base(path)
	{
		sub(/.*\//, "", path)
		return path
	}
	# what the r-th relocation leads to; by: who has it
	function follow(r, by,    k, o, to)
	{
		o = rel_file[r]
		to = rel_to[r]
		if (to == ".text.probe")
			return
		if (substr(to, 1, 1) == ".")
			k = cover(o, to, rel_add[r])
		else
			k = (o, to) in here ? here[o, to] : to in anywhere ? anywhere[to] : 0
		if (k == 0 && substr(to, 1, 1) == ".") {
			if (to ~ /^\.text/)
				say(base(o) ": " by " leads to code that is not marked PROBE_PATH")
			return
		}
		to = k ? name[k] : to
		sub(/\.(cold|part|isra|constprop).*$/, "", to)
		if (("call", to) in is || ("not", to) in is || to == "_GLOBAL_OFFSET_TABLE_")
			return
		if (k == 0)
			say(base(o) ": " by " calls " to)
		else if (type[k] == "O")
			data(k, by)
		else if (section[k] != ".text.probe")
			say(base(o) ": " by " calls " to ", which is not marked PROBE_PATH")
	}
	# functions that a table points to
	function data(k, by,    n, i, r, rs)
	{
		if (k in seen)
			return
		seen[k] = 1
		n = split(of_data[file[k], section[k]], rs, " ")
		for (i = 1; i <= n; i++) {
			r = rs[i]
			if (rel_at[r] >= from[k] && rel_at[r] < from[k] + size[k])
				follow(r, by " > " name[k])
		}
	}
	END {
		for (r = 1; r <= nrel; r++)
			if (rel_sec[r] == ".text.probe") {
				nprobe++
				k = cover(rel_file[r], ".text.probe", rel_at[r])
				follow(r, k ? name[k] : "?")
			}
		for (name_ in root) # without Erlang there is no NIF library
			if (!(name_ in marked) && has_beam)
				say(name_ " is an entry point, and not marked PROBE_PATH")
		for (name_ in marked)
			nmarked++
		if (nprobe < 200)
			say("only " nprobe + 0 " references of " nmarked + 0 " functions found: is the section there?")
		print "info: " nmarked " functions are marked"
		print bad ? "0 passed, 1 failed" : "1 passed, 0 failed"
		exit bad
	}'
