# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# For tests that run the command against nodes: sourced, not run. The nodes are the test's own,
# with an epmd, a home and a cookie of their own, and have the demo application's modules in their
# path. After it: $root, and a scratch folder as the working directory. finish() ends a test.
#
#	start NAME [arguments of erl]    a node
#	roots NAME DIR [NAME DIR]...     those nodes are of the releases of OTP in these chroots; '': of this one
#	at NAME 'EXPRESSIONS.'           evaluated there; prints the value of the last. What the node
#	                                 says besides is in NAME.said, its standard error in NAME.log
#	cleared NAME                     waits until nothing is left there of commands that have ended
#	knows_commands NAME              atoms that are counted from now on are not their names
#	trace NAME arguments...          erltrace -N NAME, until it is armed: output in o, e
#	trace_process PID arguments...   erltrace -p PID, the same
#	untrace                          as ^C does it; the exit code is in status
#	ok, is, has ...                  see checks.sh

# shellcheck source=test/lib/checks.sh
. "$(dirname "${BASH_SOURCE[0]}")/checks.sh"
status=0 command='' epmd='' watchdog=''
declare -A in out pid # of the nodes
demo_ebin=$tmp/ebin
# shellcheck disable=SC2034 # for the tests
ebin=$(dirname "$(command -v erltrace)")/../ebin

# Only by the test's own shell: a child that bash has forked may get here as well, if a signal comes to it
# before it has begun.
nodes_end() {
	local n
	[ "$BASHPID" = $$ ] || return
	[ -n "$command" ] && kill -9 "$command" 2>/dev/null
	for n in "${!pid[@]}"; do
		kill -9 "${pid[$n]}" 2>/dev/null
	done
	[ -n "$epmd" ] && kill "$epmd" 2>/dev/null
	[ -n "$watchdog" ] && kill "$watchdog" 2>/dev/null
	wait 2>/dev/null
	for n in "${root_of[@]}"; do
		[ -n "$n" ] && rm -rf "$n$tmp"
	done
	cd / && rm -rf "$tmp"
}

# A chroot may know the machine by another name: all are at localhost then.
declare -A root_of
at_host=''
roots() { # name, directory or nothing, ...
	while [ $# -gt 1 ]; do
		root_of[$1]=$2
		[ -n "$2" ] && at_host=@localhost
		shift 2
	done
	erl() {
		local root='' args=() arg
		for arg in "$@"; do
			if [ -n "$at_host" ] && [ -v "root_of[$arg]" ]; then
				root=${root_of[$arg]}
				arg+=$at_host
			fi
			args+=("$arg")
		done
		[ -z "$root" ] && exec "$(type -P erl)" "${args[@]}"
		mkdir -p "$root$demo_ebin" && cp "$demo_ebin"/*.beam "$root$demo_ebin"
		exec chroot "$root" erl -setcookie "$(cat .erlang.cookie)" "${args[@]}"
	}
}

skip() { # why
	echo "skipped: $1"
	echo "0 passed, 0 failed"
	exit 0
}

# One that nobody listens on, and that no connection to elsewhere is given (those are above).
free_port() {
	local port i
	for ((i = 0; i < 100; i++)); do
		port=$((10000 + (RANDOM * 32768 + RANDOM) % 20000))
		(exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || break
	done
	echo "$port"
}

# Why there are no probes of the kernel here; nothing: there are.
no_kernel() {
	if [ "$(id -u)" != 0 ]; then
		echo 'probes of the kernel need root'
	elif ! erltrace -qn 'syscall::getppid:entry { } BEGIN { exit(0); }' >/dev/null 2>"$tmp/no_kernel"; then
		echo "no probes of the kernel here: $(head -n 1 "$tmp/no_kernel")"
	fi
}

# Of a test whose probes are the kernel's. VM_ROOT: nodes are those of a release in this directory.
needs_kernel() {
	local why
	why=$(no_kernel)
	[ -z "$why" ] || skip "$why"
	if [ -n "${VM_ROOT:-}" ]; then
		erl() { exec chroot "$VM_ROOT" erl -setcookie "$(cat .erlang.cookie)" "$@"; }
	fi
}

nodes_begin() { # seconds that the whole test may take; bare: without epmd and demo modules
	command -v erl >/dev/null || skip 'no Erlang here'
	cd "$tmp" || exit 1
	export HOME=$tmp ERL_EPMD_PORT
	ERL_EPMD_PORT=$(free_port)
	unset ERL_COOKIE_FILE ERL_LIBS XDG_CONFIG_HOME
	trap nodes_end EXIT
	trap 'echo "FAILED: took too long"; echo "$passed passed, $((failed + 1)) failed"; exit 1' TERM
	(
		trap - EXIT TERM
		for ((i = 0; i < $1 && $(ps -o pid= -p $$ | wc -l) == 1; i++)); do sleep 1; done
		kill $$ 2>/dev/null
	) </dev/null >/dev/null 2>&1 &
	watchdog=$!
	umask 077
	echo -n "cookie$RANDOM$$" >.erlang.cookie
	[ "${2:-}" = bare ] && return
	mkdir -p "$demo_ebin"
	if [ -d "$root/demo" ]; then
		erlc +debug_info -Werror -o "$demo_ebin" "$root"/demo/*.erl || exit 1
	fi
	epmd_begin
}

epmd_begin() {
	epmd -port "$ERL_EPMD_PORT" -address 127.0.0.1 >/dev/null 2>&1 &
	epmd=$!
	for ((i = 0; i < 2400; i++)); do
		epmd -names >/dev/null 2>&1 && break
		sleep 0.025
	done
	kill -0 "$epmd" 2>/dev/null || echo "FAILED: no epmd of our own on port $ERL_EPMD_PORT"
}

# ---- nodes --------------------------------------------------------------------------------

# A node that evaluates the lines it reads.
loop='F = fun F() ->
	case io:get_line("") of
		eof -> halt();
		L ->
			{ok, T, _} = erl_scan:string(L),
			{ok, E} = erl_parse:parse_exprs(T),
			V = try erl_eval:exprs(E, []) of {value, V0, _} -> V0 catch C:R -> {C, R} end,
			io:format("@@~0p~n", [V]),
			F()
	end
end, F().'

start() { # name, more arguments of erl
	local name=$1 i o sname=(-sname "$1")
	shift
	[[ " $* " == *' -name '* ]] && sname=()
	mkfifo "$name.in" "$name.out"
	exec {i}<>"$name.in" {o}<>"$name.out"
	erl -noshell -start_epmd false "${sname[@]}" -pa "$demo_ebin" "$@" -eval "$loop" \
		<&"$i" >&"$o" 2>"$name.log" &
	pid[$name]=$! in[$name]=$i out[$name]=$o
	disown # the shell says nothing when it is killed
	at "$name" 'ready.' >/dev/null
}

at() { # name, expressions: prints the value of the last, without a text's quotes
	local line
	echo "$2" >&"${in[$1]}"
	while read -r -t 60 line <&"${out[$1]}"; do
		if [ "${line:0:2}" = @@ ]; then
			line=${line:2}
			[[ $line == '"'*'"' ]] && line=${line:1:-1}
			echo "$line"
			return 0
		fi
		echo "$line" >>"$1.said" # by its logger, for example
	done
	echo "no answer from $1"
	return 1
}

# The names that commands connect by (OWN_NAMES in c_src/node/connection.c) become atoms of the node: then those
# that a test counts are others.
knows_commands() { # name
	at "$1" "[list_to_atom(\"erltrace-\" ++ integer_to_list(I) ++ \"@$(hostname -s)\") || I <- lists:seq(1, 256)], ok." >/dev/null
}

# The value of expressions, which it takes a moment to come to: a minute at most.
becomes() { # name, wanted, node, expressions
	local got end=$((SECONDS + 60))
	while ((SECONDS < end)); do
		got=$(at "$3" "$4")
		[ "$2" = "$got" ] && break
		sleep 0.025
	done
	is "$1" "$2" "$got"
}

# What commands have brought there is gone: they wait for that, but no longer than 300 ms.
cleared() { # node
	becomes "what commands brought to $1 is gone" '[]' "$1" \
		'[M || M <- erlang:loaded(), lists:prefix("erltrace", atom_to_list(M))].'
}

# ---- the command --------------------------------------------------------------------------

trace() { # node, then arguments of erltrace; it is armed on return
	local node=$1
	shift
	rm -f o e
	erltrace -N "$node" -x argref -n 'BEGIN { printf("armed\n"); }' "$@" >o 2>e &
	command=$!
	for ((i = 0; i < 2400; i++)); do
		grep -q '^armed' o 2>/dev/null && return 0
		kill -0 $command 2>/dev/null || break
		sleep 0.025
	done
	grep -q '^armed' o && return 0 # it was armed, and has ended, between the two looks
	kill -0 $command 2>/dev/null && echo "after $i rounds"
	kill $command 2>/dev/null
	wait $command
	echo "FAILED not armed: erltrace $*: exit code $?"
	cat o e
	command=''
	failed=$((failed + 1))
	return 1
}

# The same of a process, by probes of the kernel: where it is not armed, the test ends.
trace_process() { # its number, then arguments of erltrace
	local process=$1
	shift
	rm -f o e
	erltrace -p "$process" -qn 'BEGIN { printf("armed\n"); }' "$@" >o 2>e &
	command=$!
	for ((i = 0; i < 4000; i++)); do
		grep -q '^armed' o 2>/dev/null && return 0
		kill -0 $command 2>/dev/null || break
		sleep 0.025
	done
	echo "FAILED not armed: erltrace $*"
	cat o e
	failed=$((failed + 1))
	finish
}

untrace() {
	[ -n "$command" ] || return
	kill -TERM "$command" 2>/dev/null
	wait "$command"
	# shellcheck disable=SC2034 # for the tests
	status=$?
	command=''
}
