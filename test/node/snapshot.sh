#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The flight recorder in a node: a planted stall is in a snapshot, with what came before it and what
# caused it; by the command, by a signal, by the API; forms, limits, a full disk. STEPS, BUFSIZE, BEFORE:
# of how many steps (100,000 events a second), how much is kept, and how many seconds before the stall must
# be whole: test/promises/stall.sh sets them. The last line is "N passed, N failed".

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
nodes_begin "${TIME:-300}"
steps=${STEPS:-20000}
before=${BEFORE:-0.3}
here=$root/test/node
# Waits until so many files are there.
files() { # folder, glob, number
	local i
	for ((i = 0; i < 10 * ${TIME:-60}; i++)); do
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
at plane "spawn(fun() -> stall:run($steps, $steps - 100) end)." >/dev/null
files snaps '*-stall-plane@*-a_step_took_too_long.txt' 1
f=$(head -1 o)
cp "$f" o
has 'why it was taken' '^# a step took too long$'
has 'the cause is in it' " erlang[0-9]*:stall:wait_for_lock/1:function-entry waits for the lock$"
has 'how long it took' ' erlang[0-9]*:stall:step/2:function-return took [0-9]+ ms snapshot a step took too long$'
has 'the step' ":stall:step/2:function-entry step $((steps - 100))$"
has 'those before it' ":step/2:function-entry step $((steps - 101))$"
# From the time that its head says on nothing is missing; nothing is there twice, all others are counted.
# (The process moves between schedulers, each of which has a buffer of its own.)
awk -v at=$((steps - 100)) '
	/^# at/ { events = $4; whole = -$15; gone = $(NF - 3) }
	/function-entry step/ { n = $NF; if (last && n != last + 1 && $1 > whole + 0.001) bad++; last = n }
	/^ *-[0-9]/ { if (t != "" && $1 < t) back++; t = $1; lines++ }
	END { print bad + 0, back + 0, (lines == events), (events + gone >= 2 * at + 1) }' \
	"$f" >o
is 'every step of it in order, all others counted' '0 0 1 1' "$(cat o)"
awk '/^# at/ { whole = $15; all = $4 + $(NF - 3) } /waits for the lock/ { at = -$1 }
	END { printf "%.3f %d\n", whole - at, all }' "$f" >o
read -r whole all <o
is "the $before s before the stall are whole ($whole)" 1 "$(awk -v w="$whole" -v b="$before" 'BEGIN { print (w >= b) }')"
echo "all events of the $whole s before the stall, $all in all"

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
timeline=$(cat o)
python3 - "$timeline" >o2 <<'EOC'
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

# ---- a track for each process ------------------------------------------------------------------

# One has a name, one gets it after its first step, one has none; BEGIN is of no process. A fault is its process's.
tracked() { # file: without what differs from run to run
	sed -E "s/$later/LATER/; s/$none/NONE/; s/<0\.[0-9.]+>/PID/; s/CPU [0-9]+/CPU N/; s/error on.*divide-by-zero.*/divide by zero/" "$1" |
		LC_ALL=C sort
}
for way in traced fast; do
	mkdir "$way"
	cat >tracks.erl <<EOC
{ok, H} = erltrace:open(),
[ok = erltrace:setopt(H, O, V) || {O, V} <- [{"snapshotdir", "$PWD/$way"}, {"snapshotform", "timeline"}, {"bufpolicy", "ring"}, {"calls", "$way"}]],
ok = erltrace:compile(H, "BEGIN { printf(\\"begins\\"); }
	erlang*:stall:step/2:function-entry { printf(\\"step\\"); }
	erlang*:stall:step/2:function-return { n++; printf(\\"done\\"); }
	erlang*:stall:step/2:function-return /n == 5/ { trace(10 / (n - 5)); }"),
ok = erltrace:go(H),
In = fun(F) -> {P, R} = spawn_monitor(F), receive {'DOWN', R, _, _, normal} -> pid_to_list(P) end end,
In(fun() -> register('a name', self()), stall:step(1, 0), stall:step(2, 0) end),
P = In(fun() -> stall:step(11, 0), register(later, self()), stall:step(12, 0), stall:step(13, 0) end),
Q = In(fun() -> stall:step(21, 0) end),
{ok, _} = erltrace:snapshot(H, "tracks"),
erltrace:close(H),
P ++ " " ++ Q.
EOC
	read -r later none <<<"$(at plane "$(tr "\n" " " <tracks.erl)")"
	files "$way" '*.trace.json' 1
	timeline=$(cat o)
	python3 - "$timeline" >tracks.read <<'EOC'
import json, sys
process, thread, first = {}, {}, {}
for e in json.load(open(sys.argv[1]))["traceEvents"]:
    assert {"ph", "pid", "tid", "name", "args"} <= set(e) and e["ph"] in "Mi", e
    if e["name"] == "process_name": process[e["pid"]] = e["args"]["name"]
    elif e["name"] == "thread_name":
        assert first.setdefault(e["tid"], e["pid"]) == e["pid"], "a tid in two processes"
        thread[e["tid"]] = e["args"]["name"]
    else: assert e["tid"] in thread and first[e["tid"]] == e["pid"], "a track without a name before its first event"
for e in json.load(open(sys.argv[1]))["traceEvents"]:
    if e["ph"] == "i": print(f'{process[e["pid"]]}, {thread[e["tid"]]}: {e["name"]}, {e["args"]["text"]}')
EOC
	is "tracks, calls $way: each event on that of its process" "erltrace: CPUs, CPU N: BEGIN, begins
erltrace: Erlang processes, 'a name' PID: stall:step/2 function-entry, step
erltrace: Erlang processes, 'a name' PID: stall:step/2 function-entry, step
erltrace: Erlang processes, 'a name' PID: stall:step/2 function-return, done
erltrace: Erlang processes, 'a name' PID: stall:step/2 function-return, done
erltrace: Erlang processes, NONE: stall:step/2 function-entry, step
erltrace: Erlang processes, NONE: stall:step/2 function-return, done
erltrace: Erlang processes, later LATER: stall:step/2 function-entry, step
erltrace: Erlang processes, later LATER: stall:step/2 function-entry, step
erltrace: Erlang processes, later LATER: stall:step/2 function-entry, step
erltrace: Erlang processes, later LATER: stall:step/2 function-return, divide by zero
erltrace: Erlang processes, later LATER: stall:step/2 function-return, done
erltrace: Erlang processes, later LATER: stall:step/2 function-return, done
erltrace: Erlang processes, later LATER: stall:step/2 function-return, done" "$(tracked tracks.read)"
	if command -v node >/dev/null && [ -d "$root/web/node_modules/@paulirish/trace_engine" ]; then
		node "$root/web/test/flow_readers.js" tracks "$timeline" 2>&1 |
			awk '{ n = $1; sub(/^[0-9]+ /, ""); while (n-- > 0) print }' >chrome.read
		is 'the same by the engine of Chrome' "$(tracked tracks.read)" "$(tracked chrome.read)"
	else
		echo 'left out: no node, or no reader of traces (npm ci in web/)'
	fi
done

# ---- an alert of a script that is served --------------------------------------------------------

if erltrace serve --help >/dev/null 2>&1 && command -v curl >/dev/null; then
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
	# (the file is written a moment later: on a busy machine there are some after it)
	is 'and the steps before it' 40 "$(awk '/:wait_for_lock\/1:/ { exit } /function-entry step/ { n++ } END { print n + 0 }' o)"
	kill -USR1 "$command" # it ended the server
	files served '*-waits-plane@*-signal.txt' 1
	ok 'the server goes on' kill -0 "$command"
	rm -r served
	kill -USR1 "$command"
	for ((i = 0; i < 600; i++)); do
		curl -s --max-time 10 "$(grep -m1 metrics url)" >o
		grep -q '^erltrace_snapshots_failed_total.* 1$' o && break
		sleep 0.1
	done
	has 'one that cannot be written is counted' '^erltrace_snapshots_failed_total\{script="waits",target="plane"\} 1$'
	ok 'and told' holds serve.log "waits\.d: plane: snapshot 'signal': couldn't write served/.*: No such file or directory"
	untrace
fi
finish
