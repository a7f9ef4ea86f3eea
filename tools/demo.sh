#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# make demo: a node of Erlang's own, unprepared, with a small application that is at work
# (demo/demo_app.erl), and scripts of scripts/ run on it, for half a minute; then the live page on
# it, until ^C. Each command is shown, then run. erltrace is in PATH. Node, epmd and files are the
# demo's own, and gone at its end.
#
#	DEMO_PORT=N     the page's port (8042, or any if that is taken)
#	DEMO_SECONDS=N  how long the page stays (until ^C; 0: no page)

set -u
root=$(cd "$(dirname "$0")/.." && pwd)
tmp=$(mktemp -d)
node='' epmd='' web=''

cleanup() {
	[[ -n $web ]] && kill "$web" 2>/dev/null
	[[ -n $node ]] && kill "$node" 2>/dev/null
	[[ -n $epmd ]] && kill "$epmd" 2>/dev/null
	wait 2>/dev/null
	rm -rf "$tmp"
}
trap cleanup EXIT
trap 'exit 130' INT TERM

if [[ -t 1 ]]; then
	bold=$'\e[1m' dim=$'\e[2m' off=$'\e[0m'
else
	bold='' dim='' off=''
fi

say() {
	printf '\n%s%s%s\n' "$bold" "$1" "$off"
}

show() { # what it shows, then the erltrace command
	local a
	say "$1"
	shift
	printf '%s$ erltrace' "$dim"
	for a in "$@"; do
		case $a in
		*[\ \{\"\$\;\*]*) printf " '%s'" "$a" ;;
		*) printf ' %s' "${a#"$root"/}" ;;
		esac
	done
	printf '%s\n' "$off"
	erltrace "$@" 2>&1
}

# ---- the node -----------------------------------------------------------------------------

say '0. A stock Erlang node with a small application: orders come in, each a process that asks
   gen_servers, reads a table and writes through a port. erltrace is not in it.'
umask 077
export HOME=$tmp ERL_EPMD_PORT=$((20000 + $$ % 20000))
unset ERL_COOKIE_FILE ERL_LIBS
printf 'demo%s' "$RANDOM$RANDOM" >"$tmp/.erlang.cookie"
erlc +debug_info -o "$tmp" "$root"/demo/*.erl || exit 1
epmd -port "$ERL_EPMD_PORT" -address 127.0.0.1 >/dev/null 2>&1 &
epmd=$!
printf '%s$ erl -noshell -sname demo -s demo_app%s\n' "$dim" "$off"
mkfifo "$tmp/up"
for ((i = 0; i < 200; i++)); do
	epmd -names >/dev/null 2>&1 && break
	sleep 0.05
done
erl -noshell -start_epmd false -sname demo -pa "$tmp" -s demo_app \
	-eval 'file:write_file(os:getenv("HOME") ++ "/up", "up\n").' >/dev/null 2>"$tmp/log" </dev/null &
node=$!
if ! read -r -t 20 up <"$tmp/up" || [[ $up != up ]]; then
	cat "$tmp/log"
	exit 1
fi
disown "$epmd" "$node"

# ---- scripts ------------------------------------------------------------------------------

show '1. One line: what does the node spawn? Two seconds, then the counts. Nothing was prepared
   for it: the command reaches the node, traces inside it, and leaves nothing there.' \
	-N demo -qn 'erlang*:::process-spawn { @[copyinstr(arg1)] = count(); } tick-2s { exit(0); }'

show '2. births.d: processes that start and end, one line per second; at the end, which and why.' \
	-N demo -qs "$root/scripts/births.d" 3

show '3. heat.d: how long do the calls of the application take? Running time in powers of two
   of nanoseconds, short calls on the left, long ones on the right, then the number of calls.' \
	-N demo -qs "$root/scripts/heat.d" 'demo_*' 2

show '4. latency.d: how long does a message wait until its receiver runs, and which process waits longest?' \
	-N demo -qs "$root/scripts/latency.d" 3

show '5. slow.d: which calls of the application take more than 1 ms?' \
	-N demo -qs "$root/scripts/slow.d" 'demo_*' 1000 2

show '6. The same results for programs: JSON, one object per line.' \
	-N demo --json -qn 'erlang*:::gc_* { @[probename] = count(); } tick-1s { exit(0); }'

show '7. An error, with its position (on a terminal also with a caret).' \
	-n 'BEGIN { @a = quantize("text"); }'

say 'More: scripts/, README.md, man/erltrace.1, and make test.'

# ---- the page -----------------------------------------------------------------------------

page() { # port
	rm -f "$tmp/url"
	erltrace web -N demo --port "$1" --log "$tmp/audit" >"$tmp/url" 2>"$tmp/web.log" </dev/null &
	web=$!
	for ((i = 0; i < 200; i++)); do
		[[ -s $tmp/url ]] && return 0
		kill -0 "$web" 2>/dev/null || break
		sleep 0.05
	done
	web=''
	return 1
}

# Where nobody sits in front of it, it ends by itself.
[[ -t 1 ]] || DEMO_SECONDS=${DEMO_SECONDS:-5}
[[ ${DEMO_SECONDS-} == 0 ]] && exit 0
if page "${DEMO_PORT:-8042}" || page 0; then
	say '8. The live page: open this link, choose a script from the menu, press Run. ^C ends it.'
	printf '%s$ erltrace web -N demo%s\n' "$dim" "$off"
	cat "$tmp/url"
	if [[ -n ${DEMO_SECONDS-} ]]; then
		sleep "$DEMO_SECONDS"
	else
		wait "$web"
	fi
else
	say '8. There is no live page here:'
	cat "$tmp/web.log"
fi
exit 0
