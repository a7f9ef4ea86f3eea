# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# For tests that cut a network, as by a cable that is pulled: sourced after nodelib.sh. Two networks of
# the test's own, and a cable between them.
#
#	cable_begin || ... "$cable_why"  lays it; not possible: why
#	start_beyond NAME [arguments]    a node at the other end, NAME@$beyond
#	in_net $here COMMAND...          at this end
#	cable_cut, cable_mend            nothing gets through; it does again

here='' there='' cable_why=''
beyond=10.213.0.2

in_net() { # process, command...; not in the background, where the shell would stand between
	local p=$1
	shift
	nsenter -t "$p" -n "$@"
}

cable_lay() {
	in_net $here ip link add cut0 type veth peer name cut1 &&
		in_net $here ip link set cut1 netns $there &&
		in_net $here ip address add 10.213.0.1/24 dev cut0 &&
		in_net $there ip address add $beyond/24 dev cut1 &&
		in_net $here ip link set cut0 up && in_net $there ip link set cut1 up &&
		in_net $here ip link set lo up && in_net $there ip link set lo up
}

cable_begin() {
	local own p i
	cable_why='it takes root'
	[ "$(id -u)" = 0 ] || return
	cable_why='no command ip (iproute2)'
	command -v ip >/dev/null || return
	cable_why='no command nsenter (util-linux)'
	command -v nsenter >/dev/null || return
	cable_why='no network name spaces here'
	unshare -n true 2>/dev/null || return
	unshare -n sleep 240 &
	here=$!
	unshare -n sleep 240 &
	there=$!
	pid[cable_a]=$here pid[cable_b]=$there # they end with the test
	own=$(readlink /proc/$$/ns/net)
	for p in $here $there; do
		for ((i = 0; i < 2400; i++)); do
			[ "$(readlink "/proc/$p/ns/net")" != "$own" ] && break
			sleep 0.025
		done
		((i < 2400)) || return # never in the network of the machine
	done
	cable_lay 2>cable.log || {
		cable_why="no veth devices here ($(head -n 1 cable.log))"
		return 1
	}
	nsenter -t "$there" -n epmd -port "$ERL_EPMD_PORT" >/dev/null 2>&1 &
	pid[cable_epmd]=$!
	disown -a
	for ((i = 0; i < 2400; i++)); do
		in_net $there epmd -names >/dev/null 2>&1 && break
		sleep 0.025
	done
}

start_beyond() { # name, more arguments of erl
	local name=$1 i o
	shift
	mkfifo "$name.in" "$name.out"
	exec {i}<>"$name.in" {o}<>"$name.out"
	nsenter -t "$there" -n erl -noshell -start_epmd false -name "$name@$beyond" "$@" -eval "$loop" \
		<&"$i" >&"$o" 2>"$name.log" &
	pid[$name]=$! in[$name]=$i out[$name]=$o
	disown
	at "$name" ready. >/dev/null
}

cable_cut() { in_net $here ip link set cut0 down; }
cable_mend() { in_net $here ip link set cut0 up; }
