#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Who is greeted. A user without the cookie registers a name in epmd and relays the greeting to a
# real node (relay.py): it must get no connection, whatever the command is asked to do; and nodes of
# other users, with other cookies, must not hear of a command that does not mean them. Needs root.

# shellcheck disable=SC2016 # $target is D's
# shellcheck source=test/lib/nodelib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/nodelib.sh"
# shellcheck source=test/lib/weblib.sh
. "$(dirname "$0")/../lib/weblib.sh"
nodes_begin 300 bare
{ [ "$(id -u)" = 0 ] && command -v setpriv; } >/dev/null || skip 'no other users for us (needs root)'
python=$(PATH=/usr/bin:/bin command -v python3) || skip 'no python3 that others can run'
epmd_begin
hello='BEGIN { printf("hello %d\n", $pid); exit(0); }'
everywhere='erlang*:::process-spawn { } BEGIN { printf("hello %d\n", $pid); exit(0); }'
relays=()
theirs=$(mktemp -d) # others can read it, the test's own folder they cannot
chmod 755 "$theirs"
install -m 644 "$root/test/node/relay.py" "$theirs/"
trap 'kill "${relays[@]}" 2>/dev/null; rm -rf "$theirs"; nodes_end' EXIT

as_nobody=(setpriv --reuid=65534 --regid=65534 --clear-groups)

attack() { # name, then what goes before python3: its output in NAME.relay, its number in $relay
	local name=$1
	shift
	"$@" "$python" "$theirs/relay.py" "$name" "$node_port" ${late:+late} >"$name.relay" 2>&1 &
	relay=$!
	relays+=("$relay")
	ok "$name is there" holds "$name.relay" '^ready'
}

heard() { # what a relay has heard of, but that it is there
	grep -v '^ready' "$1.relay" | sort | uniq -c | words
}

port_of() { epmd -names | sed -n "s/^name $1 at port //p"; }

# ---- the attack ---------------------------------------------------------------------------

start owned
at owned 'logger:add_handler(f, logger_std_h, #{config => #{file => "owned.txt"}}).' >/dev/null
node_port=$(port_of owned)
attack evil "${as_nobody[@]}"

is 'no -N: the node of ours' "hello ${pid[owned]}" "$(timeout 60 erltrace -qn "$everywhere" 2>e | grep .)"
is 'no -N: the relay is not greeted' '' "$(heard evil)"
is "-N '*'" "hello ${pid[owned]}" "$(timeout 60 erltrace -N '*' -qn "$hello" 2>e | grep .)"
is '-p' "hello ${pid[owned]}" "$(timeout 60 erltrace -p "${pid[owned]}" -qn "$everywhere" 2>e | grep .)"
is '-l' 0 "$(timeout 60 erltrace -ln 'erlang*:::process-spawn' >/dev/null 2>e; echo $?)"
if page_nodes >o 2>e; then
	ok 'the page: the node of ours' grep -q '"name":"owned@' o
	ok 'the page: not the relay' eval '! grep -q evil o'
fi
timeout 60 erltrace -qn 'syscall::openat:entry { } erlang*:::process-spawn { } BEGIN { exit(0); }' \
	>o 2>&1 # in the kernel, where that can be
is 'the relay has heard of none of them' '' "$(heard evil)"
timeout 60 erltrace -v -N '*' -qn "$hello" >o 2>&1
has '-v says whom it has not asked' '^erltrace: not asked: evil is on a port of user nobody'

timeout 60 erltrace -N evil -qn "$hello" >o 2>&1
is '-N of the relay: exit' 1 $?
has '-N of the relay: whose it is, and what to do' \
	"port [0-9]+, where the node evil is said to be, belongs to user nobody.*-p $relay takes its own cookie, or --cookie-file"
timeout 60 erltrace -N "evil@$(hostname -s)" -qn "$hello" >o 2>&1
has '-N with the host' 'belongs to user nobody'
timeout 60 erltrace -N evil@127.0.0.1 -qn "$hello" >o 2>&1
has '-N with an address' 'belongs to user nobody'
timeout 60 erltrace -p "$relay" -qn "$everywhere" >o 2>&1
is '-p of the relay: exit' 1 $?
has '-p of the relay, in whose environment HOME is ours' 'belongs to user nobody'
is 'still it has heard of none' '' "$(heard evil)"

# A name that comes while a node of -c is waited for.
mkfifo begun go
timeout 60 erltrace -c "sh -c 'echo >begun; read line <go; exec erl -sname mine -noshell'" \
	-qn "$everywhere" >o 2>e &
command=$!
read -r line <begun
attack late_name "${as_nobody[@]}"
echo >go
wait "$command"
command=
has '-c: the node' '^hello [0-9]+'
is '-c: a relay that came meanwhile' '' "$(heard late_name)"

# ---- who accepts, not only who listens ----------------------------------------------------

late=1
attack handed_on
late=
timeout 60 erltrace -N handed_on -qn "$hello" >o 2>&1
is 'a port of ours that another user accepts on: exit' 1 $?
has 'a port of ours that another user accepts on' 'belongs to user nobody'
holds handed_on.relay '^connected' # which it says when it has been refused, perhaps
is 'it gets no digest' '1 connected' "$(heard handed_on)"
is 'the real node has let nobody in' '[]' "$(at owned 'nodes(hidden).')"

# epmd's word for a port: what is there says itself who it is.
attack_port=$(port_of owned)
"$python" - "$attack_port" >lie.out 2>&1 <<'EOT' &
import os, socket, struct, sys, time
s = socket.create_connection(("127.0.0.1", int(os.environ["ERL_EPMD_PORT"])))
req = struct.pack(">BHBBHHH", 120, int(sys.argv[1]), 77, 0, 6, 6, 3) + b"lie\0\0"
s.sendall(struct.pack(">H", len(req)) + req)
s.recv(16)
print("ready", flush=True)
time.sleep(600)
EOT
relays+=($!)
holds lie.out ready
timeout 60 erltrace -N lie -qn "$hello" >o 2>&1
is 'a name for the port of another node: exit' 1 $?
has 'a name for the port of another node' 'epmd has a port for the node lie, but the node there is owned@'

# ---- nodes of others ----------------------------------------------------------------------

(umask 077 && echo -n theirsecret >"$theirs/.erlang.cookie")
chown 65534:65534 "$theirs/.erlang.cookie" "$theirs"
mkfifo other.in other.out
exec {i}<>other.in {o}<>other.out
(cd "$theirs" && HOME=$theirs "${as_nobody[@]}" erl -noshell -start_epmd false -sname other -eval "$loop") \
	<&"$i" >&"$o" 2>other.log &
disown
in[other]=$i out[other]=$o
at other 'ready.' >/dev/null
pid[other]=$(at other 'os:getpid().')
at other 'logger:add_handler(f, logger_std_h, #{config => #{file => "other.txt"}}).' >/dev/null
logged() { # node, its file
	at "$1" 'logger_std_h:filesync(f).' >/dev/null
	cat "$2"
}
is 'no -N' "hello ${pid[owned]}" "$(timeout 60 erltrace -qn "$everywhere" 2>e | grep .)"
is 'no -N: nothing is said of others' '' "$(grep other e)"
is '-p' "hello ${pid[owned]}" "$(timeout 60 erltrace -p "${pid[owned]}" -qn "$everywhere" 2>e | grep .)"
is '-N' "hello ${pid[owned]}" "$(timeout 60 erltrace -N owned -qn "$hello" 2>e | grep .)"
page_nodes >o 2>e && hasnt 'the page' '"other'
timeout 60 erltrace -N other -qn "$hello" >o 2>&1
has '-N of a node of another user' "belongs to user nobody.*-p ${pid[other]} takes its own cookie"
is 'its log is empty' '' "$(logged other "$theirs/other.txt")"

# Named, with its cookie. (What relays are greeted with then, they do know.)
kill "${relays[@]}"
wait "${relays[@]}" 2>/dev/null
relays=()
is '-p of it' "hello ${pid[other]}" "$(timeout 60 erltrace -p "${pid[other]}" -qn "$everywhere" 2>e | grep .)"
is '-N, its cookie file' "hello ${pid[other]}" \
	"$(timeout 60 erltrace -N other --cookie-file "$theirs/.erlang.cookie" -qn "$hello" 2>e | grep .)"
is 'its cookie file alone: nodes of its owner' "hello ${pid[other]}" \
	"$(timeout 60 erltrace --cookie-file "$theirs/.erlang.cookie" -qn "$everywhere" 2>e | grep .)"
is 'the log of ours is empty' '' "$(logged owned owned.txt)"
is 'and of theirs' '' "$(logged other "$theirs/other.txt")"

# A user whose nodes are not in epmd is told so.
install -m 755 "$(command -v erltrace)" "$theirs/"
HOME=$theirs "${as_nobody[@]}" timeout 60 "$theirs/erltrace" -p "${pid[owned]}" -qn "$everywhere" >o 2>&1
is '-p of a process that is not to be seen: exit' 1 $?
has '-p of a process that is not to be seen' 'the ports of process [0-9]+ cannot be seen'
kill -9 "${pid[other]}"
ok 'it has gone' eval 'for ((i = 0; i < 2400; i++)); do [ -z "$(port_of other)" ] && break; sleep 0.025; done; [ -z "$(port_of other)" ]'
HOME=$theirs "${as_nobody[@]}" timeout 60 "$theirs/erltrace" -qn "$everywhere" >o 2>&1
is 'no node of that user: exit' 1 $?
has 'no node of that user' 'none of the nodes that epmd knows \(owned\) belongs to user nobody, the owner of the cookie in'
finish
