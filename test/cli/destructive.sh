#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Destructive actions need -w: every one that the tables have (c_src/prog/builtins.def), here, in a node,
# in a node that forbids them, and as the live page runs scripts. With -w those that do no harm to
# anybody work. The last line is "N passed, N failed".

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
if command -v erl >/dev/null; then
	nodes_begin 300 bare
else
	cd "$tmp" || exit 1
	trap 'cd /; rm -rf "$tmp"' EXIT
fi

# How each is called; one that is not here makes the test fail.
declare -A call=(
	[breakpoint]='breakpoint()' [chill]='chill(10)' [freopen]='freopen("destroyed")' [panic]='panic()'
	[raise]='raise(9)' [stop]='stop()' [system]='system("touch destroyed")'
	[copyout]='copyout((void *)8, 8, 8)' [copyoutstr]='copyoutstr("x", 8, 8)'
)
# Those of the table's flag, and the functions that write into the program.
names=$(sed -n -e 's/^D_BACT("\([a-z]*\)".*AF_DESTR.*/\1/p' -e 's/^D_[BR]FUNC("\(copyout[a-z]*\)".*/\1/p' \
	"$root/c_src/prog/builtins.def" | sort -u)
ok 'the table has them' [ "$(wc -w <<<"$names")" -ge 9 ]
n=0
refused() { # name, then a command: it says why, and nothing has happened
	local name=$1
	shift
	"$@" >o 2>e
	is "$name: exit" 1 $?
	ok "$name: told" grep -qE 'destructive|would stop or kill the whole node' e
	ok "$name: nothing was done" [ ! -e destroyed ]
	n=$((n + 1))
}
for a in $names; do
	ok "$a is known to this test" [ -n "${call[$a]-}" ]
	clause="BEGIN { ${call[$a]}; exit(0); }"
	refused "$a without -w" timeout 120 erltrace -qn "$clause"
	refused "$a as the page runs it, asked for by the script" timeout 120 erltrace -x harmless -qn "#pragma D option destructive
$clause"
done
if command -v erl >/dev/null; then
	epmd_begin
	start destr
	start destr_not -erltrace destructive false
	for a in $names; do
		clause="BEGIN { ${call[$a]}; exit(0); }"
		refused "$a in a node, without -w" timeout 120 erltrace -N destr -qn "$clause"
		refused "$a in a node that forbids it" timeout 120 erltrace -w -N destr_not -qn "$clause"
	done
	is 'both nodes live' '2 2' "$(at destr '1 + 1.') $(at destr_not '1 + 1.')"
fi
erltrace -wqn 'BEGIN { system("touch destroyed"); exit(0); }' >o 2>e
is 'system() with -w: exit' 0 $?
ok 'system() with -w: done' [ -e destroyed ]
echo "promise 11: $(wc -w <<<"$names") destructive actions ($(tr '\n' ' ' <<<"$names" | sed 's/ $//')): $n times refused, none done"
finish
