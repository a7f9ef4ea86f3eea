#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# make install with DESTDIR: what is there, and that the installed command reaches a node, with the
# installed modules and library. The last line is "N passed, N failed".

set -u
root=$(cd "$(dirname "$0")/.." && pwd)
tmp=$(mktemp -d)
passed=0 failed=0
node='' epmd=''
unset MAKEFLAGS MAKELEVEL MFLAGS ERL_LIBS ERL_COOKIE_FILE

cleanup() {
	exec {in}>&- 2>/dev/null
	[ -n "$node" ] && kill -9 "$node" 2>/dev/null
	[ -n "$epmd" ] && kill "$epmd" 2>/dev/null
	wait 2>/dev/null
	rm -rf "$tmp"
}
trap cleanup EXIT

is() { # name, wanted, got
	if [ "$2" = "$3" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'FAILED %s\n  wanted: %s\n  got:    %s\n' "$1" "$2" "$3"
	fi
}

if ! make -s -C "$root" install DESTDIR="$tmp/d" >"$tmp/log" 2>&1; then
	cat "$tmp/log"
	echo '0 passed, 1 failed'
	exit 1
fi
at=$tmp/d/usr/local
version=$(make -s -C "$root" print-version)
for f in bin/erltrace include/erltrace.h lib/liberltrace.a lib/liberltrace.so \
	lib/pkgconfig/erltrace.pc share/man/man1/erltrace.1 share/man/man3/liberltrace.3 \
	lib/erltrace/priv/erltrace.so lib/erltrace/ebin/erltrace.app \
	lib/erltrace/ebin/erltrace_agent.beam lib/erltrace/ebin/dtrace.beam; do
	is "installed: $f" yes "$([ -e "$at/$f" ] && echo yes)"
done

# ERL_LIBS finds it, by its version.
is 'erltrace in ERL_LIBS' "42 $version" "$(cd "$tmp" && ERL_LIBS=$at/lib erl -noshell -eval '
	ok = application:start(erltrace),
	{ok, H} = erltrace:script("BEGIN { trace(42); exit(0); }"),
	{ok, [{probe, _, N}]} = erltrace:consume(H),
	{ok, Vsn} = application:get_key(erltrace, vsn),
	io:format("~b ~s", [N, Vsn]), halt().')"

cd "$tmp" || exit 1
export HOME=$tmp ERL_EPMD_PORT=$((40000 + $$ % 20000))
umask 077
echo -n cookie >.erlang.cookie
epmd -port "$ERL_EPMD_PORT" -address 127.0.0.1 >/dev/null 2>&1 &
epmd=$!
mkfifo in
exec {in}<>in
erl -noshell -start_epmd false -sname api_install -eval 'io:format("up~n"), io:get_line("").' \
	<in >out 2>&1 &
node=$!
for ((i = 0; i < 400; i++)); do
	grep -q up out && break
	sleep 0.05
done
is 'the installed command reaches a node' "hi $node" "$(timeout 60 "$at/bin/erltrace" -N api_install \
	-qn 'erlang*:::process-spawn {} BEGIN { printf("hi %d", $pid); exit(0); }' 2>&1 | tr -d '\n')"

echo "$passed passed, $failed failed"
[ "$failed" -eq 0 ]
