#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Looking into terms with the command: patterns and parts in a node that does not have erltrace,
# faults in words, errors with their place, several nodes. The last line is "N passed, N failed".

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
nodes_begin 300 bare
epmd_begin
start terms_a
start terms_b
nth='erlang*:lists:nth/2'
calls='[lists:nth(1, [T]) || T <- [{reserve, <<"tea">>, 3}, {reserve, <<"tea">>, 4}, {reserve, "rum", 5}, {order, 1}, #{plan => gold, user => #{id => 7}}, 42]], done.'

trace terms_a -qn "$nth:function-return /erlmatch(erlret, \"{reserve, Item, N}\")/ { @item[erltext(this->Item)] = sum(this->N); }
	$nth:function-entry /erlget(\"id\", erlget(\"user\", erlhd(erlarg(1)))) == 7/ { printf(\"user %s\\n\", erlget(\"plan\", erlhd(erlarg(1)))); }
	$nth:function-return /erlret > 41/ { printf(\"more: %d %s\\n\", erlret, erltype(erlret)); }" || finish
at terms_a "$calls" >/dev/null
untrace
is 'exit code' 0 "$status"
has 'a pattern: numbers by text' '^ *tea +7$'
has 'a charlist' '^ *rum +5$'
has 'a map in a map' '^user gold$'
has 'a number' '^more: 42 integer$'
is 'nothing is said' '' "$(cat e)"

# what is not a number is told, and the other events are counted
trace terms_a -qn "$nth:function-return { @ = sum(erlret); } $nth:function-return { @n[\"all\"] = count(); }" || finish
at terms_a "$calls" >/dev/null
untrace
has 'a fault: what is a number' '^ +42$'
has 'a fault: the other clause' '^ *all +6$'
ok 'a fault in words' grep -q 'function-return): not a number (of 64 bits) in action #[0-9]* at BPF pc' e
is 'one for each event' 5 "$(grep -c 'not a number' e)"

# one script in two nodes
trace terms_a -N terms_b -qn "$nth:function-return /erlmatch(erlret, \"{reserve, _, N}\")/ { @[erlnode] = sum(this->N); @all = sum(this->N); }
	tick-10ms /!told/ { told = 1; printf(\"up\n\"); }" || finish
# Each of them says that it runs: "armed" comes from the first.
for ((i = 0; i < 2400 && $(grep -c '^up$' o) < 2; i++)); do sleep 0.025; done
at terms_a "$calls" >/dev/null
at terms_b "$calls" >/dev/null
untrace
is 'two nodes: each' 2 "$(grep -cE '^ *terms_[ab]@[^ ]* +12$' o)"
has 'two nodes: both' '^ +24$'

# errors come from the compiler in the node
cat >bad.d <<'BAD'
erlang*:lists:nth/2:function-return
/erlmatch(erlret, "{reserve, ]}")/
{
}
BAD
erltrace -N terms_a -xerrtags -qs bad.d >o 2>&1
is 'a bad pattern: exit code' 1 $?
has 'a bad pattern: where' '\[D_PATTERN\] line 2: in the pattern "\{reserve, \]\}", at .\]\}.: '
erltrace -N terms_a -xerrtags -qn "$nth:function-return /erlret/ { }" >o 2>&1
is 'a term as condition: exit code' 1 $?
has 'a term as condition: what to write' '\[D_PRED_SCALAR\] .*compare it, as in T == "true"'
# records: from a header that the command has, which the node does not
echo '-record(order, {id, item = ?TEA :: atom(), n}).' >shop.hrl
trace terms_a -I shop.hrl -qn "$nth:function-return /erlmatch(erlret, \"#order{n = N, id = Id}\")/ { @[this->Id] = sum(this->N); }" || finish
at terms_a '[lists:nth(1, [T]) || T <- [{order, 7, tea, 3}, {order, 1}, {order, 7, rum, 4}]], done.' >/dev/null
untrace
has 'a record of a header' '^ +7 +7$'
erltrace -N terms_a -xerrtags -qn "$nth:function-return /erlmatch(erlret, \"#order{n = N}\")/ { }" >o 2>&1
is 'a record that is not known: exit code' 1 $?
has 'a record that is not known: what to do' '\[D_PATTERN\] .*the fields of the record #order are not known: it is not defined in lists\. Name the header that defines it, -I FILE.hrl'
erltrace -N terms_a -I none.hrl -qn "$nth:function-return { }" >o 2>&1
is 'a header that is not there: exit code' 1 $?
has 'a header that is not there' 'none.hrl'
finish
