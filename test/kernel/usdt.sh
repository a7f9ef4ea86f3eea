#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The erlang probes of a stock node by another tool: a script calls usdt(), bpftrace has uprobes at
# the notes of the library, and both count the same. The last line is "N passed, N failed".

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
command -v bpftrace >/dev/null || skip 'no bpftrace here'
[ "$(id -u)" = 0 ] || skip 'bpftrace needs root'
[ -e /sys/bus/event_source/devices/uprobe/type ] || skip 'the kernel has no uprobes'
nodes_begin 240 bare
epmd_begin
start kusdt_a

n=5000
calls() { # function with its arguments, how often
	at kusdt_a "lists:foreach(fun(_) -> $1 end, lists:seq(1, $2))." >/dev/null
}
# What is heard of lists:unzip3 and spawn/3 tells that bpftrace is there.
trace kusdt_a -qn 'erlang*:lists:zip3/3:function-entry, erlang*:lists:zip3/3:function-return
	{ @[probename] = count(); @heard[probename] = sum(usdt()); }
	erlang*:lists:unzip3/1:function-entry, erlang*:lists:unzip3/1:function-return,
	erlang*:::process-spawn { printf("%s %d\n", probename, usdt()); }' || finish
lib=$(awk '/erltrace/ { print $6; exit }' "/proc/${pid[kusdt_a]}/maps")

# Nobody listens: the semaphores are 0, and usdt() says so.
calls 'lists:zip3([], [], [])' 100

bpftrace -p "${pid[kusdt_a]}" -e "
	usdt:$lib:erlang:function__entry { @entry[str(arg1), arg2] = count(); }
	usdt:$lib:erlang:function__return { @ret[str(arg1)] = count(); }
	usdt:$lib:erlang:process__spawn { @spawn[str(arg1)] = count(); }" >b 2>b.err &
listener=$!
heard=0
for ((i = 0; i < 600; i++)); do
	calls 'lists:unzip3([])' 1
	at kusdt_a 'spawn(erlang, node, []).' >/dev/null
	heard=$(grep -E '^(function-entry|function-return|process-spawn) 1' o | sort -u | wc -l)
	[ "$heard" = 3 ] && break
	kill -0 "$listener" 2>/dev/null || break
	sleep 0.1
done
if [ "$heard" != 3 ] && ! kill -0 "$listener" 2>/dev/null; then
	cat b b.err
	skip 'bpftrace cannot trace USDT probes here'
fi
calls 'lists:zip3([], [], [])' "$n"
at kusdt_a 'S = self(), [begin spawn(fun() -> S ! done end), receive done -> ok end end || _ <- lists:seq(1, 77)].' >/dev/null
kill -INT "$listener"
wait "$listener"
is 'entries by bpftrace' "@entry[lists:zip3/3, 1]: $n" "$(grep '^@entry.lists:zip3' b)"
is 'returns by bpftrace' "@ret[lists:zip3/3]: $n" "$(grep '^@ret.lists:zip3' b)"
is 'spawns by bpftrace' '@spawn[erlang:apply/2]: 77' "$(grep '^@spawn.*apply' b)"
untrace
has 'entries by erltrace' "^ *function-entry +$((n + 100))$"
has 'returns by erltrace' "^ *function-return +$((n + 100))$"
has 'entries that were heard' "^ *function-entry +$n$"
has 'returns that were heard' "^ *function-return +$n$"

# ---- perf, which wants tracefs: mounted where nobody else sees it -----------------------------

command -v perf >/dev/null || { echo 'skipped: no perf here'; finish; }
trace kusdt_a -qn 'erlang*:lists:zip3/3:function-entry, erlang*:::process-spawn { usdt(); }' || finish
lib=$(awk '/erltrace/ { print $6; exit }' "/proc/${pid[kusdt_a]}/maps")
: >p
# shellcheck disable=SC2016 # of that shell
HOME=$PWD unshare -m bash -c 'mount -t tracefs none /sys/kernel/tracing || exit
	perf buildid-cache --add "$1" || exit
	added=()
	trap "for e in \${added[@]}; do perf probe -q -d \$e; done" EXIT
	for e in sdt_erlang:function__entry sdt_erlang:process__spawn; do
		perf probe -q "$e" || exit
		added+=("$e")
	done
	perf stat -x, -I 100 -e sdt_erlang:function__entry -e sdt_erlang:process__spawn -p "$2" 2>"$3" &
	listener=$!
	echo "$listener" >"$3.pid"
	wait "$listener"
	true' perf "$lib" "${pid[kusdt_a]}" "$PWD/p" >p.out 2>&1 &
listener=$!
counted() { awk -F, -v e="$1" '$4 == e { n += $2 } END { print n + 0 }' p; }
for ((i = 0; i < 300; i++)); do
	at kusdt_a 'spawn(erlang, node, []).' >/dev/null
	[ "$(counted sdt_erlang:process__spawn)" != 0 ] && break
	kill -0 "$listener" 2>/dev/null || break
	sleep 0.1
done
if [ "$(counted sdt_erlang:process__spawn)" = 0 ]; then
	[ -s p.pid ] && kill -INT "$(cat p.pid)"
	wait "$listener"
	echo "skipped: perf has no probes of USDT here: $(tr '\n' ' ' <p.out)"
else
	calls 'lists:zip3([], [], [])' "$n"
	kill -INT "$(cat p.pid)"
	wait "$listener"
	is 'entries by perf' "$n" "$(counted sdt_erlang:function__entry)"
fi
untrace
finish
