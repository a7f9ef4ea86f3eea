#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The flight recorder in a node: a planted stall is in a snapshot, with what came before it and what
# caused it; by the command, by a signal, by the API; forms, limits, a full disk. STEPS=10000000: the
# promise, which test/promises/stall.sh keeps. The last line is "N passed, N failed".

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
nodes_begin "${TIME:-300}"
steps=${STEPS:-20000}
here=$root/test/node
# Waits until so many files are there, 60 s at most.
files() { # folder, glob, number
	local i
	for ((i = 0; i < 600; i++)); do
		[ "$(find "$1" -name "$2" | wc -l)" -ge "$3" ] && break
		sleep 0.1
	done
	find "$1" -name "$2" | sort >o
	is "$2: $3 files" "$3" "$(wc -l <o)"
}
# As trace(), of scripts that print nothing before they end.
record() { # node, arguments of erltrace
	local i
	rm -f o e
	erltrace -v -N "$@" >o 2>e &
	command=$!
	for ((i = 0; i < 2400; i++)); do
		grep -q 'armed: ' e && return
		sleep 0.025
	done
	ok 'armed' false
}
erlc "$here/stall.erl" || exit 1
start plane
at plane "code:add_path(\"$PWD\"), code:ensure_loaded(stall)." >/dev/null

# ---- the stall ---------------------------------------------------------------------------------

mkdir snaps
record plane -xwatchdog=0 -xbufsize="${BUFSIZE:-4m}" --snapshots snaps -s "$here/stall.d"
at plane "stall:run($steps, $steps - 100)." >/dev/null
files snaps '*-stall-plane@*-a_step_took_too_long.txt' 1
f=$(head -1 o)
cp "$f" o
has 'why it was taken' '^# a step took too long$'
has 'the cause is in it' " erlang[0-9]*:stall:wait_for_lock/1:function-entry waits for the lock$"
has 'how long it took' ' erlang[0-9]*:stall:step/2:function-return took [0-9]+ ms snapshot a step took too long$'
has 'the step' ":stall:step/2:function-entry step $((steps - 100))$"
has 'those before it' ":step/2:function-entry step $((steps - 101))$"
# Nothing is missing, nothing is there twice, and what is not there is said.
awk -v at=$((steps - 100)) '
	/^# at/ { whole = -$15 }
	/function-entry step/ { n = $NF; if (last && n != last + 1 && $1 > whole + 0.001) bad++; last = n; steps++ }
	/^ *-[0-9]/ { if (t != "" && $1 < t) back++; t = $1; lines++ }
	/^# at/ { events = $4; gone = $(NF - 3) }
	END { print bad + 0, back + 0, (lines == events), (events + gone >= 2 * at + 2) }' \
	"$f" >o
# (The process moves between schedulers, each of which has a buffer of its own.)
is 'every step of it in order, all others counted' '0 0 1 1' "$(cat o)"
awk '/function-entry step/ { if (!a) a = $1 } /took/ { b = $1 } END { printf "%.3f s of events before the stall ended\n", b - a }' "$f"

# ---- a signal, the script goes on --------------------------------------------------------------

kill -USR1 "$command"
files snaps '*-signal.txt' 1
at plane 'stall:run(10, 0).' >/dev/null
kill -USR1 "$command"
files snaps '*-signal.txt' 2
cp "$(tail -1 o)" o
has 'it went on' ':step/2:function-entry step 10$'
untrace
is 'and ended well' 0 "$status"

# ---- the API -----------------------------------------------------------------------------------

mkdir api
at plane "code:add_path(\"$ebin\")." >/dev/null
cat >api.erl <<EOC
{ok, H} = erltrace:open(),
ok = erltrace:setopt(H, "snapshotdir", "$PWD/api"),
ok = erltrace:setopt(H, "snapshotform", "all"),
{ok, Script} = file:read_file("$here/stall.d"),
ok = erltrace:compile(H, Script),
ok = erltrace:go(H),
100 = stall:run(100, 0),
{ok, Files} = erltrace:snapshot(H, "by hand"),
201 = stall:run(201, 200),
Wait = fun(W) -> case filelib:wildcard("$PWD/api/*took_too_long.trace.json") of [_] -> ok; _ -> timer:sleep(20), W(W) end end,
Wait(Wait),
erltrace:close(H),
length(Files).
EOC
is 'API: three forms' 3 "$(at plane "$(tr "\n" " " <api.erl)")"
files api '*-by_hand.txt' 1
is 'API: all events' 100 "$(grep -c 'step/2:function-entry step' "$(cat o)")"
files api '*took_too_long.txt' 1
files api '*took_too_long.trace.json' 1
python3 - "$(cat o)" >o2 <<'EOC'
import json, sys
d = json.load(open(sys.argv[1]))
ev = [e for e in d["traceEvents"] if e["ph"] == "i"]
assert all(a["ts"] <= b["ts"] for a, b in zip(ev, ev[1:]))
print(d["otherData"]["why"], len(ev) == d["otherData"]["events"], sum("waits" in e["args"]["text"] for e in ev))
EOC
is 'the timeline can be read, and names the cause' 'a step took too long True 1' "$(cat o2)"
find api -name '*took_too_long.json' >o
python3 -c 'import json, sys
rows = [json.loads(l) for l in open(sys.argv[1])]
print(rows[0]["type"], rows[0]["events"] == sum(r["type"] == "probe" for r in rows))' "$(cat o)" >o2
is 'so can the JSON' 'recording True' "$(cat o2)"
is 'API: without bufpolicy=ring' '<<"ET_SNAPSHOT">>' "$(at plane '{ok, H} = erltrace:open(), ok = erltrace:compile(H, "BEGIN { }"), ok = erltrace:go(H), {error, {dtrace, Tag, _, _, _}} = erltrace:snapshot(H, "x"), erltrace:close(H), Tag.')"

# ---- an alert of a script that is served --------------------------------------------------------

if erltrace serve --help >/dev/null 2>&1; then
	mkdir served scripts
	cat >scripts/waits.d <<'EOC'
#pragma D option bufpolicy=ring
erlang*:stall:step/2:function-entry { @steps = count(); printf("step %d", erlint(0)); }
erlang*:stall:wait_for_lock/1:function-entry { alert("Waits", "for the lock"); }
EOC
	erltrace serve -N plane --port 0 --snapshots served scripts >url 2>serve.log </dev/null &
	command=$!
	for ((i = 0; i < 600; i++)); do
		curl -s --max-time 10 "$(grep -m1 metrics url)" 2>/dev/null |
			grep -q '^erltrace_script_up{script="waits",target="plane"} 1' && break
		sleep 0.1
	done
	at plane 'stall:run(50, 40).' >/dev/null
	files served '*-waits-plane@*-alert_Waits.txt' 1
	cp "$(head -1 o)" o
	has 'the alert is in it' ':stall:wait_for_lock/1:function-entry for the lock$|:function-entry alert Waits: for the lock$'
	is 'and the steps before it' 40 "$(grep -c 'function-entry step' o)"
	untrace
fi
finish
