#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# A VM with probes of its own (--with-dynamic-trace=systemtap, tools/usdt-otp.sh makes one): they
# are had by the provider usdt, with exact counts, and bpftrace counts the same. A node that can be
# reached is traced from inside all the same. The last line is "N passed, N failed".

# shellcheck disable=SC2016,SC2154 # $target is D's; pid, in, out are nodelib's
# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
native=${USDT_OTP:-/var/tmp/erltrace-usdt-otp}/erl
[ -x "$native" ] || skip 'no VM with native probes here: tools/usdt-otp.sh makes one'
why=$(erltrace -qn 'syscall::getpid:entry { } BEGIN { exit(0); }' 2>&1 >/dev/null) ||
	skip "no probes of the kernel here: $why"
nodes_begin 300 bare
epmd_begin
# shellcheck disable=SC2317 # nodelib starts nodes by it
erl() { exec "$native" "$@"; }

# One without a name.
mkfifo alone.in alone.out
exec {i}<>alone.in {o}<>alone.out
erl -noshell -eval "$loop" <&"$i" >&"$o" 2>alone.log &
pid[alone]=$! in[alone]=$i out[alone]=$o
disown
is 'it has native probes' systemtap "$(at alone 'erlang:system_info(dynamic_trace).')"
vm=${pid[alone]}

# ---- which are these? ------------------------------------------------------------------------
list() { erltrace "$@" 2>&1 | awk 'NR > 1 { print $3, $5 }' | sort -u | tr '\n' ' '; }
is 'by its process' 'beam.smp process-spawn ' "$(list -ln "erlang$vm:::process-spawn")"
is 'by -p and a glob' 'beam.smp process-spawn ' "$(list -p "$vm" -ln 'erlang*:::process-spawn')"
is 'by $target' 'beam.smp message-send ' "$(list -p "$vm" -ln 'erlang$target:::message-send')"
is 'two __ are two -' 'beam.smp message-send-remote ' "$(list -p "$vm" -ln 'erlang*:::message-*-remote')"
start knative_named
is 'a node that can be reached is traced from inside' ' process-spawn ' \
	"$(erltrace -p "${pid[knative_named]}" -ln 'erlang*:::process-spawn' | awk 'NR > 1 { print "", $NF, "" }' | sort -u | grep -v beam.smp)"
is 'unless the VM is named' 'beam.smp process-spawn ' \
	"$(list -p "${pid[knative_named]}" -ln 'erlang*:beam.smp::process-spawn')"

# ---- counts ----------------------------------------------------------------------------------
# Messages of 204 words go there and are answered; of 304 words: is everybody listening?
at alone 'register(big, spawn(fun F() -> receive {P, T} -> P ! element(1, T), F() end end)).' >/dev/null
round() { # how many, how long
	at alone "T = list_to_tuple(lists:seq(1, $2)), [begin big ! {self(), T}, receive 1 -> ok end end || _ <- lists:seq(1, $1)], done." >/dev/null
}
rm -f o e b
erltrace -p "$vm" -qn 'erlang*:::message-send /arg2 == 304/ { printf("heard\n"); }
	erlang*:::message-send /arg2 == 204/ { @send[copyinstr(arg1)] = count(); }
	erlang*:::message-receive /arg1 == 204/ { @receive[copyinstr(arg0)] = count(); }
	erlang*:::process-spawn { @spawn[copyinstr(arg1)] = count(); }
	erlang*:::process-exit { @exit[copyinstr(arg1)] = count(); }' >o 2>e &
command=$!
beam=${native%/erl}/bin/beam.smp
listener=
if command -v bpftrace >/dev/null; then
	bpftrace -B line -p "$vm" -e "
		usdt:$beam:erlang:message__send /arg2 == 304/ { printf(\"heard\\n\"); }
		usdt:$beam:erlang:message__send /arg2 == 204/ { @send[str(arg1)] = count(); }
		usdt:$beam:erlang:message__receive /arg1 == 204/ { @receive[str(arg0)] = count(); }
		usdt:$beam:erlang:process__spawn { @spawn[str(arg1)] = count(); }" >b 2>b.err &
	listener=$!
else
	echo 'skipped: the same by bpftrace: no bpftrace here'
fi
for ((k = 0; k < 600; k++)); do
	round 1 300
	if [ -n "$listener" ] && ! kill -0 "$listener" 2>/dev/null; then
		echo "skipped: the same by bpftrace, which cannot do it here: $(grep -v RLIMIT b.err | head -1)"
		listener=
	fi
	kill -0 $command 2>/dev/null || break
	grep -q heard o 2>/dev/null && { [ -z "$listener" ] || grep -q heard b; } && break
	sleep 0.1
done
round 1000 200
at alone 'S = self(), [begin spawn(fun() -> S ! 1 end), receive 1 -> ok end end || _ <- lists:seq(1, 77)], [begin P = spawn(fun() -> exit(odd) end), R = monitor(process, P), receive {_, R, _, _, _} -> ok end end || _ <- lists:seq(1, 23)], done.' >/dev/null
big=$(at alone 'pid_to_list(whereis(big)).')
[ -z "$listener" ] || { kill -INT "$listener"; wait "$listener"; }
untrace
has 'messages sent' "^ *$big +1000$"
is 'and received' "2" "$(grep -cE "^ *$big +1000$" o)"
has 'processes made' '^ *erlang:apply/2 +100$'
has 'processes ended' '^ *odd +23$'
if [ -n "$listener" ]; then
	is 'sent, by bpftrace' "@send[$big]: 1000" "$(grep '^@send' b)"
	is 'received, by bpftrace' "@receive[$big]: 1000" "$(grep '^@receive' b)"
	is 'made, by bpftrace' '@spawn[erlang:apply/2]: 100' "$(grep '^@spawn' b)"
fi
finish
