#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Reaching nodes of all sorts, and what is said where it cannot be done: nodes that do not see the
# command's files, that can write nowhere, of another machine's kind; hidden ones, odd cookies; a
# node that -c starts. The last line is "N passed, N failed".

# shellcheck disable=SC2016 # $target is D's
# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
nodes_begin 400 bare
epmd_begin
hello='BEGIN { printf("hello %d\n", $pid); exit(0); }'
files='[F || D <- ["/tmp", "/var/tmp", "/dev/shm", "/run", "."], F <- filelib:wildcard(D ++ "/erltrace-*")].'
modules='[M || M <- erlang:loaded(), string:prefix(atom_to_list(M), "erltrace") =/= nomatch].'

# ---- kinds of nodes -----------------------------------------------------------------------

start reach_hidden -hidden
is 'a hidden node' "hello ${pid[reach_hidden]}" "$(erltrace -N reach_hidden -qn "$hello" | grep .)"
start reach_long -name reach_long@127.0.0.1
is 'long names' "hello ${pid[reach_long]}" \
	"$(erltrace -N reach_long@127.0.0.1 -qn "$hello" | grep .)"
if start reach_six -proto_dist inet6_tcp && grep -q reach_six <<<"$(epmd -names)"; then
	is 'a node that speaks IPv6' "hello ${pid[reach_six]}" \
		"$(erltrace -N reach_six -qn "$hello" 2>&1 | grep .)"
fi
mv .erlang.cookie was
printf '%s\n' 'a b"c'\''d\e~{}[]%$|<>' >odd
start reach_odd -setcookie "$(cat odd)"
is 'a cookie with odd characters, and a newline behind' "hello ${pid[reach_odd]}" \
	"$(erltrace -N reach_odd --cookie-file odd -qn "$hello" | grep .)"
is 'the same by the environment' "hello ${pid[reach_odd]}" \
	"$(ERL_COOKIE_FILE=odd erltrace -N reach_odd -qn "$hello" | grep .)"
erltrace -N reach_odd -qn "$hello" >o 2>&1
has 'no cookie at all' 'cannot read the cookie file .*/\.erlang\.cookie: No such file'
mv was .erlang.cookie
erltrace -N reach_odd -qn "$hello" >o 2>&1
has 'another cookie' 'the node reach_odd does not accept the cookie of .*/\.erlang\.cookie'
# A node that gives up connecting because it is too busy has nothing against the cookie.
python3 "$root/test/node/relay.py" reach_busy "$(epmd -names | awk '$2 == "reach_hidden" { print $5 }')" slow >busy 2>&1 &
relay=$!
holds busy '^ready' >/dev/null
erltrace -N reach_busy -qn "$hello" >o 2>&1
has 'a busy node' 'the node reach_busy is too busy: 3 times it gave up connecting on port [0-9]+$'
is 'it was asked three times' 3 "$(grep -c '^digest' busy)"
kill "$relay"
ERL_EPMD_PORT=1 erltrace -N reach_odd -qn "$hello" >o 2>&1
has 'ERL_EPMD_PORT' 'no epmd answers on port 1 of this machine'
erltrace -N reach_odd@nosuch.invalid -qn "$hello" >o 2>&1
has 'no such host' 'cannot find the host nosuch.invalid'

# ---- nodes that cannot be reached ----------------------------------------------------------

# TLS's answer to what is not TLS once was taken for a wrong cookie.
if command -v openssl >/dev/null &&
	openssl req -x509 -newkey rsa:2048 -nodes -keyout tls.key -out tls.crt -days 2 -subj /CN=reach 2>/dev/null; then
	cat tls.key tls.crt >tls.pem
	start reach_tls -proto_dist inet_tls -ssl_dist_opt server_certfile "$tmp/tls.pem"
	erltrace -N reach_tls -qn "$hello" >o 2>&1
	has 'a node with TLS' 'the node reach_tls wants TLS on port [0-9]+ \(-proto_dist inet_tls\)'
fi
# A name that epmd has, without anybody at its port, once was blamed for the process of -p.
python3 - "$ERL_EPMD_PORT" >stale <<'PY' &
import socket, struct, sys, time
s = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
name = b"reach_stale"
m = b"x" + struct.pack(">HBBHHH", 1, 77, 0, 6, 5, len(name)) + name + b"\0\0"
s.sendall(struct.pack(">H", len(m)) + m)
s.recv(16)
print("ready", flush=True)
time.sleep(600)
PY
stale=$!
ok 'a name without a node' holds stale ready
erl -noshell -eval 'io:put_chars("up\n").' >nameless &
nameless=$!
ok 'a node without a name' holds nameless up
erltrace -p $nameless -qs waits 1 >o 2>&1
has '-p of a node that has no name' "process $nameless is none of the nodes that epmd knows .*: erltrace -p $nameless -s cpu"
hasnt '... and no other node is blamed' 'reach_stale does not answer|no process listens'
kill $nameless $stale
erltrace -p "${pid[reach_hidden]}" -qs wall 1 >o 2>&1
has 'wall of -p: in the node of that process' ' in all$'
kill -STOP "${pid[reach_hidden]}"
until grep -qE '\) T ' "/proc/${pid[reach_hidden]}/stat"; do sleep 0.01; done
for script in waits wall memory top; do
	erltrace -p "${pid[reach_hidden]}" -qs $script 1 >o 2>&1
	is "$script of a node that is stopped: exit code" 1 $?
	has "$script of a node that is stopped" \
		"process ${pid[reach_hidden]} is stopped .*: kill -CONT ${pid[reach_hidden]} .*-s cpu, or hogs, locks, syscalls"
done
kill -CONT "${pid[reach_hidden]}"

# a_node_that_is_slow_to_answer_is_named: to somebody who waits at a terminal.
kill -STOP "${pid[reach_hidden]}"
script -qec "erltrace -N reach_hidden -qn 'BEGIN { printf(\"hello\n\"); exit(0); }'" /dev/null </dev/null >o 2>&1 &
slow=$!
erltrace -N reach_hidden -qn 'BEGIN { printf("hello\n"); exit(0); }' >plain 2>&1 &
plain=$!
ok 'a node does not answer: it is told on a terminal' holds o '^erltrace: the node reach_hidden does not answer yet: waiting'
kill -CONT "${pid[reach_hidden]}"
wait $slow $plain
has 'a node answers after all' '^hello'
is 'a node does not answer: told once' 1 "$(grep -c 'does not answer yet' o)"
is 'a node does not answer: not told where nobody waits' hello "$(tr -d '\n' <plain)"

# few_descriptors_are_told: not as an owner that cannot be found.
for n in 4 5 6; do
	(
		ulimit -n $n
		exec erltrace -N reach_hidden -N reach_odd -N reach_long@127.0.0.1 -qn "$hello"
	)
done >o 2>&1
has 'few descriptors' '/proc/net/tcp cannot be read: Too many open files'

# ---- the command's own files --------------------------------------------------------------

# The command and its files elsewhere, to be spoilt.
copy() {
	rm -rf "${tmp:?}/copy"
	mkdir -p copy/bin copy/priv copy/ebin
	cp "$(command -v erltrace)" copy/bin/
	cp "$ebin"/*.beam copy/ebin/
	cp "$ebin/../priv/erltrace.so" copy/priv/
	chmod -R go-rwx copy
}

start reach_a
copy
is 'a copy' "hello ${pid[reach_a]}" "$(copy/bin/erltrace -N reach_a -qn "$hello" | grep .)"
printf '\xb7\0' | dd of=copy/priv/erltrace.so bs=1 seek=18 conv=notrunc 2>/dev/null
copy/bin/erltrace -N reach_a -qn "$hello" >o 2>&1
is 'another architecture: exit' 1 $?
has 'another architecture' 'the node reach_a@.* runs on x86_64.*; .*/priv/erltrace.so is for aarch64'
copy
truncate -s 100000 copy/priv/erltrace.so
copy/bin/erltrace -N reach_a -qn "$hello" >o 2>&1
has 'half a library (loading it kills the node)' '/priv/erltrace.so is damaged'
copy
cp "$(dirname "$ebin")/lib/liberltrace.so" copy/priv/erltrace.so
copy/bin/erltrace -N reach_a -qn "$hello" >o 2>&1
is 'a library that does not load: exit' 1 $?
has 'a library that does not load' 'the node reach_a@.* \(OTP [0-9]+, .*\) does not load .*/priv/erltrace.so'
is 'nothing is left of it' '[]' "$(at reach_a "$modules")"
copy
echo junk >copy/ebin/erltrace_nif.beam
copy/bin/erltrace -N reach_a -qn "$hello" >o 2>&1
has 'a module that does not load' 'does not load the module erltrace_nif: badfile'
is 'nothing is left of the others' '[]' "$(at reach_a "$modules")"
copy
rm copy/priv/erltrace.so
copy/bin/erltrace -N reach_a -qn "$hello" >o 2>&1
has 'no library to bring' 'no erltrace.so to send to it: not in .*/copy/priv'

# ---- nodes that do not see them -----------------------------------------------------------

# As in a container: folders of its own for temporary files, so that what is in them is the node's.
apart() { # name, a command that changes the file system; a node there
	local name=$1 i o
	mkfifo "$name.in" "$name.out"
	exec {i}<>"$name.in" {o}<>"$name.out"
	unshare -m sh -c "$2"'; shift; exec erl "$@"' sh "$2" -noshell -start_epmd false \
		-sname "$name" -setcookie "$(cat .erlang.cookie)" -eval "$loop" <&"$i" >&"$o" 2>"$name.log" &
	pid[$name]=$! in[$name]=$i out[$name]=$o
	disown
	at "$name" 'ready.' >/dev/null
}

copy
if unshare -m true 2>/dev/null; then
	hide="mount -t tmpfs none $tmp/copy; for d in /var/tmp /dev/shm /run /tmp; do mount -t tmpfs none \$d; done"
	apart reach_apart "$hide"
	is 'nothing of others is there' '[]' "$(at reach_apart "$files")"
	is 'it does not see the library' false \
		"$(at reach_apart "filelib:is_regular(\"$tmp/copy/priv/erltrace.so\").")"
	is 'the library is sent' "hello ${pid[reach_apart]}" \
		"$(copy/bin/erltrace -N reach_apart -qn "$hello" 2>&1 | grep .)"
	is 'no file is left' '[]' "$(at reach_apart "$files")"
	maps=$(grep -c 'erltrace' "/proc/${pid[reach_apart]}/maps")
	is 'and again' "hello ${pid[reach_apart]}" \
		"$(copy/bin/erltrace -N reach_apart -qn "$hello" 2>&1 | grep .)"
	is 'it is mapped once' "$maps" "$(grep -c erltrace "/proc/${pid[reach_apart]}/maps")"
	# Asked there: who looks from outside sees other paths where all of this is in a chroot.
	ours='{ok, Maps} = file:read_file("/proc/self/maps"), hd([L || L <- string:split(binary_to_list(Maps), "\n", all), string:find(L, "erltrace.so") =/= nomatch]).'
	# A folder of that name which somebody else may write to: what is loaded would be theirs.
	taken() { # name of the node, what makes /tmp/erltrace-HASH, F; from where it is loaded
		local own
		apart "$1" "$hide"
		own=$({
			cat copy/priv/erltrace.so
			printf '%s%s%s' "$(at "$1" 'os:getpid().')" "$(at "$1" 'atom_to_list(node()).')" \
				"$(at "$1" 'lists:flatten(io_lib:format("~0p", [[erlang:system_info(start_time), erlang:time_offset()]])).')"
		} | md5sum | cut -c1-16)
		at "$1" "F = \"/tmp/erltrace-$own\", $2, ok." >/dev/null
		is "$1: it is traced" "hello ${pid[$1]}" "$(copy/bin/erltrace -N "$1" -qn "$hello" 2>&1 | grep .)"
		like "$1: from where" "$3/erltrace-$own/erltrace.so" "$(at "$1" "$ours")"
	}
	taken reach_foreign 'file:make_dir(F), file:change_owner(F, 65534), file:change_mode(F, 8#777)' ' /var/tmp'
	is 'the folder of somebody else is left as it is' '{ok,[]}' "$(at reach_foreign 'file:list_dir(hd(filelib:wildcard("/tmp/erltrace-*"))).')"
	taken reach_open 'file:make_dir(F), file:change_mode(F, 8#777)' ' /var/tmp'
	taken reach_link 'file:make_dir("/tmp/x"), file:change_mode("/tmp/x", 8#700), file:make_symlink("/tmp/x", F)' ' /var/tmp'
	taken reach_left 'file:make_dir(F), file:change_mode(F, 8#700), file:write_file(F ++ "/erltrace.so", "x")' ' /tmp'
	full='for d in /tmp /var/tmp; do mount -t tmpfs -o ro none $d; done'
	apart reach_full "$hide; $full"
	is 'another folder than /tmp' "hello ${pid[reach_full]}" \
		"$(copy/bin/erltrace -N reach_full -qn "$hello" 2>&1 | grep .)"
	apart reach_noexec "$hide; for d in /tmp /var/tmp; do mount -t tmpfs -o noexec none \$d; done"
	is 'a folder that must not be executed from' "hello ${pid[reach_noexec]}" \
		"$(copy/bin/erltrace -N reach_noexec -qn "$hello" 2>&1 | grep .)"
	is 'no file is left there either' '[]' "$(at reach_noexec "$files")"
	apart reach_ro "$hide; for d in /var/tmp /dev/shm /run /tmp; do mount -t tmpfs -o ro none \$d; done; cd /proc"
	copy/bin/erltrace -N reach_ro -qn "$hello" >o 2>&1
	is 'nowhere to write: exit' 1 $?
	has 'nowhere to write' 'cannot read .*/copy/priv/erltrace.so, and it could not be sent to the node: /tmp: erofs, '
	is 'nowhere to write: nothing is left' '[]' "$(at reach_ro "$modules")"
else
	echo 'info: no name spaces here: nodes in containers not tested'
fi

# ---- -c and -p ----------------------------------------------------------------------------

erltrace -c "erl -sname reach_c -noshell -eval 'timer:sleep(60000).'" \
	-qn 'erlang$target:::process-spawn,BEGIN { printf("%d %d\n", $target, $pid); } tick-100ms { exit(4); }' >o 2>e
is '-c: exit' 4 $?
ok '-c: $target is the node' grep -qE '^([0-9]+) \1$' o
ended=$(awk 'NF == 2 { print $1 }' o)
insist 0 "$ended" # a busy machine takes a moment
is '-c: the node is ended' 0 "$(ps -o stat= -p "$ended" | grep -vc Z)"
# It ends when the script has run for a while, however long that takes to begin.
cat >reach_end.erl <<'X'
-module(reach_end).
-export([wait/0]).
wait() ->
    case filelib:is_regular("over") of
        true -> halt(0);
        false -> timer:sleep(20), wait()
    end.
X
erlc reach_end.erl
rm -f o e
erltrace -c 'erl -sname reach_d -noshell -s reach_end wait' \
	-n 'BEGIN { @["counted"] = count(); } tick-500ms { printf("late\n"); }' >o 2>e &
command=$!
ok '-c: the script runs' holds o late
touch over
wait "$command"
is '-c: the node ends by itself: exit' 0 $?
command=
has '-c: its aggregations' 'counted +1$'
ok '-c: its end is told' grep -qE '^erltrace: pid [0-9]+ has exited$' e
erltrace -c 'sh -c "exit 3"' -qn 'erlang*:::process-spawn' >o 2>&1
is '-c of no node: exit' 1 $?
has '-c of no node' 'the command of -c has ended before it became a node: start it with -sname'
# However short it lives: what there is, or that it was too short; nothing else is blamed.
for ms in 0 100 300 600 1000; do
	timeout 60 erltrace -c "erl -sname reach_e$ms -noshell -eval 'receive after $ms -> halt(0) end.'" \
		-qn 'BEGIN { @["counted"] = count(); } erlang*:::nosuch, erlang*:lists:zip3:function-entry { }' -Z >o 2>e
	is "-c: a node that lives for $ms ms" ok "$(case "$? $(cat e)" in
	'1 '*'the command of -c has ended before it could be traced'*) echo ok ;;
	'1 '*'the command of -c has ended before it became a node'*) echo ok ;;
	'0 '*) echo ok ;;
	esac || cat o e)"
done
erltrace -c 'nosuchcommand -sname x' -qn 'erlang*:::process-spawn' >o 2>&1
has '-c of nothing' 'failed to execute nosuchcommand'
erltrace -p "${pid[reach_a]}" -qn 'erlang$target:::process-spawn { } tick-50ms { exit(0); }' >o 2>&1
is '-p: exit' 0 $?
start reach_p
rm -f o e
erltrace -p "${pid[reach_p]}" -n 'BEGIN { @["counted"] = count(); printf("armed\n"); } tick-500ms { printf("late\n"); }' >o 2>e &
command=$!
ok '-p: armed' holds o late
kill -9 "${pid[reach_p]}"
wait "$command"
is '-p: the process ends: exit' 0 $?
has '-p: its aggregations' 'counted +1$'
command=
unset 'pid[reach_p]'

finish
