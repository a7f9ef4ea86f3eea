#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Scripts in the shapes that have been shown for Erlang under DTrace since 2011: tuples of texts as
# keys of self-> and global arrays, running times by function, globals counted up and printed by a
# tick, cpu compared between entry and return, probes by names that OTP has dropped, user probes.
# They run with -qs from a file, as such scripts do, over all functions of the node, and what they
# say is what happened.

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/nodelib.sh"
nodes_begin 400
start seeds_a -pa "$ebin"
at seeds_a '{demo_exact:calls(1), code:ensure_loaded(dyntrace), demo_exact:spawns(1)}.' >/dev/null

script() { # its text is stdin; traced when this returns. node: another one than the first
	cat >script.d
	trace "${node:-seeds_a}" -qs script.d
}

buckets() { # title: the sum of its counts
	awk -v title="$1" '$1 == title { on = 1; next } on && /\|/ { n += $NF }
		on && NF == 0 && n > 0 { exit } END { print n + 0 }' o
}

# ---- times by function --------------------------------------------------------------------

script <<'D'
erlang*:::global-function-entry
{
  self->began[copyinstr(arg1)] = vtimestamp;
}

erlang*:::function-return
{
  @us[copyinstr(arg1)] = lquantize((vtimestamp - self->began[copyinstr(arg1)]) / 1000, 0, 40, 4);
}
D
at seeds_a '{demo_exact:calls(1000), demo_exact:nested(250), demo_exact:naps(10, 20)}.' >/dev/null
untrace
is 'heat map: leaf' 1000 "$(buckets demo_exact:leaf/1)"
is 'heat map: outer' 250 "$(buckets demo_exact:outer/1)"
is 'heat map: inner' 500 "$(buckets demo_exact:inner/1)"
is 'heat map: nap' 10 "$(buckets demo_exact:nap/1)"

script <<'D'
erlang*:::global-function-entry
{
  self->began[copyinstr(arg1)] = vtimestamp;
}

erlang*:::function-return
{
  @us[copyinstr(arg1)] = sum((vtimestamp - self->began[copyinstr(arg1)]) / 1000);
}
D
at seeds_a '{demo_exact:calls(1000), demo_exact:naps(10, 50)}.' >/dev/null
untrace
has 'profile: a row' '^ +demo_exact:leaf/1 +[0-9]+$'
ok 'profile: waiting is not running' [ "$(awk '$1 == "demo_exact:nap/1" { print $2 }' o)" -lt 500000 ]

# ---- births and deaths --------------------------------------------------------------------

script <<'D'
#!/usr/sbin/dtrace -qs

erlang*:::process-spawn
{
    printf("+ %s in %s\n", copyinstr(arg0), copyinstr(arg1));
}

erlang*:::process-exit
{
    printf("- %s of %s\n", copyinstr(arg0), copyinstr(arg1));
}

erlang*:::process-exit_signal
{
    printf("%s kills %s for %s\n",
           copyinstr(arg0), copyinstr(arg1), copyinstr(arg2));
}
D
at seeds_a '{demo_exact:spawns(100), demo_exact:exits(5, {bad, thing})}.' >/dev/null
untrace
is 'spawn, exit: exit' 0 "$status"
is 'spawn, exit: born' 105 "$(grep -c '^+ <0\.[0-9]*\.0> in demo_exact:child/1$' o)"
is 'spawn, exit: died' 5 "$(grep -c '^- <0\.[0-9]*\.0> of {bad,thing}$' o)"
is 'spawn, exit: each once' 105 "$(grep '^+ .*child' o | sort -u | wc -l)"

# Globals, counted up by the one process that spawns, printed and set back by a tick.
script <<'D'
BEGIN {
    born = died = 0
}
erlang*:::process-spawn { born++ }
erlang*:::process-exit { died++ }
profile:::tick-1sec {
    printf("born %d died %d\n", born, died);
    born = died = 0
}
D
ok 'a tick' holds o '^born' # which sets them back beside others: not in the midst of these
at seeds_a 'demo_exact:spawns(120).' >/dev/null
total() { awk '/^born/ { b += $2; d += $4 } END { print b + 0, d + 0 }' o; }
for ((i = 0; i < 1200; i++)); do
	[ "$(total)" = '120 120' ] && break
	sleep 0.05
done
untrace
is 'born and died, in all' '120 120' "$(total)"

# ---- latency ------------------------------------------------------------------------------

# One scheduler: with more of them what is sent to a process that is said to wait may find it running, to
# say so, and then it is not scheduled for that message.
start seeds_one +S 1
node=seeds_one
script <<'D'
BEGIN { printf("^C prints\n") }
erlang*:::message-send {
    when[copyinstr(arg1)] = timestamp
}
erlang*:::process-scheduled
/ when[copyinstr(arg0)] /
{
    @[copyinstr(arg0)] = quantize(timestamp - when[copyinstr(arg0)]);
    when[copyinstr(arg0)] = 0
}
D
p=$(at seeds_one 'demo_exact:wakes(200).')
untrace
node=
is 'latency: each message' 200 "$(buckets "$p")"

# ---- slow calls ---------------------------------------------------------------------------

script <<'D'
erlang*:::function-entry {
    self->began[copyinstr(arg0),
                copyinstr(arg1)] = timestamp
}
erlang*:::function-return
/self->began[copyinstr(arg0),
             copyinstr(arg1)] != 0 &&
  timestamp - self->began[copyinstr(arg0),
                          copyinstr(arg1)] > 3000000 /
{
    took = timestamp - (self->began[copyinstr(arg0),
                                    copyinstr(arg1)]);
    printf("SLOW: %s - %s - %d\n",
          copyinstr(arg0), copyinstr(arg1), took)
}
D
p=$(at seeds_a 'demo_exact:naps(20, 4).')
untrace
is 'slow calls' 20 "$(grep -c "^SLOW: $p - demo_exact:nap/1 - [0-9]*$" o)"
is 'slow calls: none was quick' '' "$(awk '/^SLOW/ && $NF <= 3000000' o)"

# ---- from one CPU to another --------------------------------------------------------------

script <<'D'
erlang*:::function-entry {
    on[copyinstr(arg0), copyinstr(arg1), arg2] = cpu+1
}
erlang*:::function-return
/ on[copyinstr(arg0), copyinstr(arg1), arg2] != 0 &&
  on[copyinstr(arg0), copyinstr(arg1), arg2] != cpu+1 /
{
    depth = arg2;
    proc = copyinstr(arg0);
    mfa = copyinstr(arg1);
    was = on[proc, mfa, depth] - 1;
    printf("MOVED %s %s at %d: %d to %d\n", proc, mfa, depth, was, cpu);
}
erlang*:::function-return
/ copyinstr(arg1) == "demo_exact:nap/1" /
{ @[on[copyinstr(arg0), copyinstr(arg1), arg2] == cpu+1 ? "stayed" : "moved"] = count(); }
erlang*:::function-return
{ on[copyinstr(arg0), copyinstr(arg1), arg2] = 0 }
D
at seeds_a 'demo_exact:naps(300, 1).' >/dev/null
untrace
moved=$(grep -c '^MOVED <0\.[0-9]*\.0> demo_exact:nap/1 at [0-9]*: [0-9]* to [0-9]*$' o)
is 'moved: those counted are those printed' "$moved" "$(awk '$1 == "moved" { n = $2 } END { print n + 0 }' o)"
is 'moved or stayed' 300 "$(awk '$1 == "moved" || $1 == "stayed" { n += $2 } END { print n + 0 }' o)"
is 'moved: to another' '' "$(awk '/^MOVED/ && $(NF - 2) == $NF' o)"

# ---- what OTP has dropped -----------------------------------------------------------------

script <<'D'
BEGIN { largest = 0 }
erlang*:::aio_pool-add
/arg1 > largest/ { largest = arg1 }
profile:::tick-200msec {
    printf("largest: %d\n", largest);
    largest = 0;
}
D
ok 'largest queue' holds o '^largest: 0$'
untrace
is 'largest queue: exit' 0 "$status"
ok 'largest queue: told why' grep -q 'aio_pool-add never fires in this node: gone from OTP' e

# ---- probes from Erlang code --------------------------------------------------------------

is 'user probe, not enabled' false "$(at seeds_a 'dtrace:p("hello").')"
script <<'D'
erlang*:::user_trace-i4s4
{
    printf("%s [%s] %d %d %d %d %s %s %s %s\n", copyinstr(arg0), copyinstr(arg1),
           arg2, arg3, arg4, arg5,
           copyinstr(arg6), copyinstr(arg7), copyinstr(arg8), copyinstr(arg9));
    @ = count();
}
D
is 'user probe, a number' true "$(at seeds_a 'dtrace:p(42).')"
is 'user probe, a text' true "$(at seeds_a 'dtrace:p("hello").')"
is 'user probe, all of it' true "$(at seeds_a 'dtrace:p(1, 2, 4, 8, "a", <<"b">>, ["c"], "and d").')"
untrace
has 'user probe: all arguments' '^<0\.[0-9]+\.0> \[\] 1 2 4 8 a b c and d$'
has 'user probe: count' '^ +3$'

finish
