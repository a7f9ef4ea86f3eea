#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# "Nothing found" and "nothing looked at" do not print alike: every script of the library ends, on a node that
# does nothing, with rows or with a line that says what it has seen (option seen).

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/nodelib.sh"
nodes_begin 900
start nothing_a -pa "$ebin"
start nothing_b -pa "$ebin"
lib=$root/scripts
line='^nothing to show: '

# ---- all of them --------------------------------------------------------------------------

# Their arguments, where for=1 alone is not what they take.
declare -A args=([user]='' [states]='process=logger for=1' [info]='process=logger for=1' [deadline]='module=demo_exact function=leaf for=1' [flow]='module=demo_exact function=leaf for=1' [flowheat]='module=demo_exact function=leaf for=1' [slowwrite]='module=demo_exact for=1'
	[exceptions]='module=demo_exact for=1')
kernel='syscalls slowwrite locks'
why=$(no_kernel)

one() { # script
	local name=$1 given=${args[$1]-for=1}
	# shellcheck disable=SC2086 # several words
	timeout 120 erltrace -N nothing_a --json -s "$name" $given >"$name.json" 2>"$name.err"
	echo $? >"$name.code"
}
at nothing_a 'code:ensure_loaded(demo_exact).' >o
at nothing_b 'code:ensure_loaded(demo_exact).' >o
for f in "$lib"/*.d; do
	name=$(basename "$f" .d)
	[ "$name" = user ] && continue # it runs until ^C: below
	case " $kernel " in *" $name "*) [ -n "$why" ] && continue ;; esac
	one "$name"
done
[ -z "$why" ] || echo "skipped: $kernel: $why"
for f in *.json; do
	name=${f%.json}
	rows=$(grep -cE '^\{"type":"(aggregation|flow|trace|ustack|print|alert)"' "$f")
	printed=$(grep '^{"type":"printf"' "$f" | grep -v '"name":"BEGIN"' | grep -cE '"values":\[(.*,)?-?[0-9]+[],]')
	lines=$(grep -c '^{"type":"nothing"' "$f")
	is "$name: exit" 0 "$(cat "$name.code")"
	if [ "$lines" = 0 ]; then
		ok "$name: there are rows, or a line that says what was seen" [ $((rows + printed)) -gt 0 ]
	else
		is "$name: one such line, and no rows" '1 0' "$lines $rows"
	fi
done
ok 'as many as there are' [ "$(find . -name '*.json' | wc -l)" -ge 44 ]

# ---- what it says -------------------------------------------------------------------------

# calls that none of is slow: each is two events
trace nothing_a -s slow module=demo_exact over=1000s function=leaf/1
at nothing_a 'demo_exact:calls(7).' >/dev/null
untrace
has 'slow: events of these functions' "${line}14 events of demo_exact:leaf/1:function-entry, demo_exact:leaf/1:function-return in [0-9.]+ s\$"

# rounds, and how many there are in one
here=$(at nothing_a 'erlang:system_info(process_count).')
erltrace -N nothing_a -s mailbox for=1 >o 2>e
has 'mailbox: rounds of all processes' "${line}[0-9]+ rounds? of [0-9]+ processes in [0-9.]+ s\$"
seen=$(grep -oE 'of [0-9]+ processes' o | grep -oE '[0-9]+')
ok "mailbox: about as many as the node has ($here): $seen" [ "${seen:-0}" -gt $((here / 2)) ]

# ended before the first round was over
at nothing_a '[spawn(fun() -> receive after infinity -> ok end end) || _ <- lists:seq(1, 2000)], ok.' >o
erltrace -N nothing_a -q -xseen -n 'state:::process-1s /args[0]->mailbox > 1000000/ { trace(1); }' \
	-n 'state:::process-1s { n++; }' -n 'state:::process-1s /n == 10/ { exit(0); }' >o 2>e
has 'a round that was cut short is not a round' "${line}no round was whole: [1-9][0-9]* of 2[0-9]{3} processes in [0-9.]+ s\$"
ok 'it has not seen all' [ "$(sed -n 's/.*whole: \([0-9]*\) of.*/\1/p' o)" -lt 2000 ]

# several nodes: one line, about all
erltrace -N nothing_a -N nothing_b -s exceptions demo_exact for=1 >o 2>e
is 'two nodes: one line' 1 "$(grep -cE "${line}0 events of demo_exact::function-exception in [0-9.]+ s on 2 nodes\$" o)"
erltrace -N nothing_a -N nothing_b --json -s exceptions demo_exact for=1 >o 2>e
is 'two nodes: one object, of no node' 1 "$(grep -cE '^\{"type":"nothing","seconds":[0-9.]+,"nodes":2,"events":0,"text"' o)"

# rows: no line
erltrace -N nothing_a -s tables for=1 >o 2>e
hasnt 'rows: no such line' 'nothing to show'
finish
