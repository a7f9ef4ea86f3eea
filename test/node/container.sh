#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# -p reaches a node in a container: a process with a network, process numbers and an epmd of its own;
# and with the cookie that the node has, from its command line or its home. Needs root.

# shellcheck disable=SC2016 # $target is D's
# shellcheck source=test/lib/nodelib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/nodelib.sh"
nodes_begin 300 bare
unshare --net --pid --fork true 2>/dev/null || skip 'no containers for us (unshare needs root)'
command -v ip >/dev/null || skip 'no ip (Debian: iproute2) to begin a network with'

# A node that spawns 300 processes for each line it reads; its own epmd is in its network.
container() { # name, home, more arguments of erl
	local name=$1 home=$2 i
	shift 2
	mkfifo "$name.in"
	exec {i}<>"$name.in"
	in[$name]=$i
	HOME=$home unshare --net --pid --fork --kill-child --mount-proc bash -c '
		ip link set lo up && exec erl -noshell -sname "$@"' -- "$name" "$@" -eval '
		(fun L() -> io:get_line(""), [spawn(lists, seq, [1, 2]) || _ <- lists:seq(1, 300)],
			L() end)().' <&"$i" >"$name.log" 2>&1 &
	pid[$name]=$!
	disown
	for ((i = 0; i < 2400; i++)); do
		inner=$(pgrep -P "${pid[$name]}" -x beam.smp) &&
			nsenter --target "$inner" --net epmd -names 2>/dev/null | grep -q "name $name " &&
			break
		sleep 0.025
	done
}

counted() { # name: what -p counts there
	local armed
	mkfifo "$1.armed"
	exec {armed}<>"$1.armed"
	timeout 60 erltrace -p "$inner" -qn '
		BEGIN { printf("armed\n"); }
		erlang$target:::process-spawn /args[1] == "lists:seq/2"/ { n++; }
		erlang$target:::process-spawn /n == 300/ { printf("%d of 300", n); exit(0); }' \
		>"$1.armed" 2>&1 &
	read -r -t 60 -u "$armed" line
	[ "$line" = armed ] || echo "$line"
	echo >&"${in[$1]}"
	wait $!
	read -r -t 10 -u "$armed" line
	echo "$line"
}

mkdir -m 700 theirs
(umask 077 && echo -n theircookie >theirs/.erlang.cookie)
container in_home "$PWD/theirs"
is 'in a container, the cookie of its home' '300 of 300' "$(counted in_home)"
container in_args "$PWD/theirs" -setcookie another
is 'in a container, the cookie of its command line' '300 of 300' "$(counted in_args)"

# Where others may run it.
theirs=$(mktemp -d)
chmod 755 "$theirs"
install -m 755 "$(command -v erltrace)" "$theirs/"
said=$(setpriv --reuid=65534 --clear-groups "$theirs/erltrace" -p "$inner" \
	-qn 'erlang*:::process-spawn {}' 2>&1)
is 'without root: exit code' 1 $?
ok 'without root: it says what it takes' grep -q 'in a container, reaching it needs root' <<<"$said"
rm -r "$theirs"
for n in in_home in_args; do kill -9 "${pid[$n]}"; done
finish
