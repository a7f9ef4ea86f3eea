#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# --folded, --speedscope and --pprof on nodes: exact numbers of stacks (demo/demo_exact.erl), of one node
# and of several, and what programs that are not ours read in the files: pprof-format, and the app of
# speedscope in Debian's chromium.

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
nodes_begin 400
start stacks_a
start stacks_b
at stacks_a 'code:ensure_loaded(demo_exact).' >/dev/null
at stacks_b 'code:ensure_loaded(demo_exact).' >/dev/null
inner='erlang*:demo_exact:inner/1:function-entry'
chain="demo_exact:times/2;demo_exact:'-nested/1-fun-0-'/1;demo_exact:outer/1;demo_exact:inner/1"
chromium=${CHROMIUM:-$(command -v chromium)}

# What a reader that is not ours makes of a file. Where lines are known they are in it too.
read_by() { # pprof | speedscope, file
	CHROMIUM=$chromium timeout 60 node "$root/web/test/browser/readers.js" "$1" "$PWD/$2" 2>&1 |
		sed -E 's/ \([^():]*(:[0-9]+)?\)//g'
}

# ---- one node -----------------------------------------------------------------------------

trace stacks_a -qn "$inner { @[ustack()] = count(); @ns[\"a;b \\\"é\", ustack()] = sum(arg2 + 2); }" \
	--folded f --speedscope s.json --pprof p.pb.gz
at stacks_a 'demo_exact:nested(40).' >/dev/null
untrace
is 'exit' 0 "$status"
is 'folded stacks' "$chain 80" "$(cat f)"
is 'what has no room in them is told' \
	'erltrace: --folded has room for one aggregation, @: @ns is left out (--speedscope and --pprof take all)' \
	"$(grep folded e)"
has 'the script prints what it prints' '^ +80$'

if command -v node >/dev/null && [ -d "$root/web/node_modules/pprof-format" ]; then
	is 'pprof: by pprof-format' "types count/count ns/count
time true true
a;b \"é;$chain 0 240
$chain 80 0" "$(read_by pprof p.pb.gz)"
else
	echo 'left out: no node or no pprof-format here (npm ci in web/)'
fi
if command -v node >/dev/null && [ -d "$root/web/node_modules/speedscope" ] && [ -x "$chromium" ]; then
	is 'folded: by speedscope' "profile f, none
$chain 80" "$(read_by speedscope f)"
	is 'speedscope: by speedscope' "profile @, count, none
$chain 80
profile @ns, sum, none
a;b \"é;$chain 240" "$(read_by speedscope s.json)"
	is 'pprof: by speedscope' "profile p.pb.gz, none
a;b \"é;$chain 240" "$(read_by speedscope p.pb.gz)"
else
	echo 'left out: no node, no speedscope (npm ci in web/) or no chromium here'
fi

# ---- what the script does with its aggregations -------------------------------------------

trace stacks_a -qn "$inner { @[ustack()] = count(); } tick-10ms { printa(@); trunc(@); normalize(@, 7); }" \
	--folded f
at stacks_a 'demo_exact:nested(40), demo_exact:nested(1).' >/dev/null
untrace
is 'all that was gathered, printed or not' "$chain 82" "$(cat f)"

# More than one message takes.
trace stacks_a -x aggsize=32m -qn 'erlang*:demo_exact:down/1:function-entry { @[erlarg(0), ustack()] = count(); }
	END { trunc(@); }' --folded f
at stacks_a 'demo_exact:body(3000).' >/dev/null
untrace
is 'no drops' '' "$(grep -i drop e)"
is 'many long stacks' 3001 "$(grep -c 'down/1 1$' f)"

# ---- several nodes ------------------------------------------------------------------------

# Each of them says that it runs: "armed" comes from the first.
trace stacks_a -N stacks_b -qn "$inner { @[ustack()] = count(); }
	tick-10ms /!told/ { told = 1; printf(\"up\n\"); }" --folded f
for ((i = 0; i < 2400 && $(grep -c '^up$' o) < 2; i++)); do
	sleep 0.025
done
at stacks_a 'demo_exact:nested(40).' >/dev/null
at stacks_b 'demo_exact:nested(2).' >/dev/null
untrace
is 'two nodes: added up' "$chain 84" "$(cat f)"
has 'two nodes: as it is printed' '^ +84$'

# ---- a node that ends ---------------------------------------------------------------------

start stacks_c
at stacks_c 'code:ensure_loaded(demo_exact).' >/dev/null
trace stacks_c -qn "$inner { @[ustack()] = count(); n++; }
	tick-10ms /n == 80 && t++ == 400/ { printf(\"sent\\n\"); }" --folded f
at stacks_c 'demo_exact:nested(40).' >/dev/null
holds o sent >/dev/null
kill -9 "${pid[stacks_c]}"
wait "$command"
status=$? command=''
is 'the node ended: an error' 1 "$status"
is 'the node ended: what it had sent' "$chain 80" "$(cat f)"

# ---- a script that does not run -----------------------------------------------------------

echo before >kept
timeout 60 erltrace -N stacks_c -qn "$inner { @[ustack()] = count(); }" \
	--folded none.f --speedscope none.json --pprof kept >o 2>e
is 'no node: an error' 1 $?
ok 'no node: it is told' test -s e
is 'no node: no file is left' '' "$(ls none.* 2>/dev/null)"
is 'no node: a file that was there stays as it is' before "$(cat kept)"
timeout 60 erltrace -N stacks_a -qn "$inner { @[ustack()] = count(); nosuch(); }" --folded none.f >o 2>e
is 'a script with an error: no file is left' '' "$(ls none.* 2>/dev/null)"

finish
