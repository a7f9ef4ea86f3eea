#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Nothing on the probe path inside a node allocates, locks or calls the system: the call graph of
# priv/erltrace.so, from the entry points of tools/probe-path.tab, down to what is called outside of
# the library. Anything outside that is not in that table is an error, with the way that leads there.
# (test/tree/probe_path.sh checks the same by the marks in the sources, before anything is linked.)
#
#   tools/check-probe-path.sh [LIBRARY]     priv/erltrace.so
#
# What it cannot see: calls through pointers. Functions whose address is taken on the path are
# taken for called; a clause's machine code calls only what prog/rt.def lists, which is added.
# The last line is "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/.."
lib=${1:-priv/erltrace.so}

in_table() { # kind of line
	awk -v kind="$1" '$1 == kind { for (i = 2; i <= NF; i++) printf " %s", $i }' tools/probe-path.tab
}
roots="$(in_table root) $(sed -n 's/^RT(\([a-z0-9_]*\),.*/rt_\1/p' c_src/prog/rt.def | tr '\n' ' ')"
allowed=$(in_table call)

# Functions are known by their addresses: several files have a static one of the same name.
objdump -d --no-show-raw-insn "$lib" | awk '
	/^[0-9a-f]+ <.*>:$/ {
		fn = $1
		sub(/^0+/, "", fn)
		print "F", fn, substr($2, 2, length($2) - 3)
		next
	}
	# calls, jumps to other functions, addresses of functions
	match($0, /[0-9a-f]+ <[A-Za-z_][^>+]*>/) {
		split(substr($0, RSTART, RLENGTH), to, " ")
		if (to[1] != fn)
			print "C", fn, to[1]
	}' | sort -u | awk -v roots="$roots" -v allowed="$allowed" '
	BEGIN {
		n = split(allowed, a, " ")
		for (i = 1; i <= n; i++)
			ok[a[i]] = 1
		n = split(roots, a, " ")
		for (i = 1; i <= n; i++)
			is_root[a[i]] = 1
	}
	$1 == "F" { name[$2] = $3; at[$3] = $2 }
	$1 == "C" { calls[$2] = calls[$2] " " $3 }
	function way(f,    s)
	{
		for (s = name[f]; f in from; f = from[f])
			s = name[from[f]] " > " s
		return s
	}
	function visit(f, by)
	{
		if (f in seen || !(f in name))
			return
		seen[f] = 1
		if (by != "")
			from[f] = by
		queue[++n] = f
	}
	END {
		n = 0
		for (f in name)
			if (name[f] in is_root)
				visit(f, "")
		if (n == 0)
			bad = 1
		for (i = 1; i <= n; i++) {
			f = queue[i]
			if (name[f] ~ /@/) {
				plain = name[f]
				sub(/@.*/, "", plain)
				if (plain in at) # our own, by the table of links
					visit(at[plain], f)
				else if (!(plain in ok)) {
					print "check-probe-path: " way(f)
					bad = 1
				}
				continue
			}
			reached++
			m = split(calls[f], to, " ")
			for (k = 1; k <= m; k++)
				visit(to[k], f)
		}
		if (reached < 60) {
			print "check-probe-path: only " reached " functions reached: is it stripped?"
			bad = 1
		}
		print "info: " reached " functions on the probe path"
		print bad ? "0 passed, 1 failed" : "1 passed, 0 failed"
		exit bad
	}'
