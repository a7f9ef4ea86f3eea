#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# make install with DESTDIR: what is there, and that the installed command reaches a node, with the
# installed modules and library. The last line is "N passed, N failed".

# shellcheck disable=SC2016 # $pid is D's
# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
unset MAKEFLAGS MAKELEVEL MFLAGS
version=$(make -s -C "$root" print-version)
if ! make -s -C "$root" install DESTDIR="$tmp/d" >"$tmp/log" 2>&1; then
	cat "$tmp/log"
	echo '0 passed, 1 failed'
	exit 1
fi
at=$tmp/d/usr/local
nodes_begin 400 bare
for f in bin/erltrace include/erltrace.h lib/liberltrace.a lib/liberltrace.so \
	lib/pkgconfig/erltrace.pc share/man/man1/erltrace.1 share/man/man3/liberltrace.3 \
	lib/erltrace/priv/erltrace.so lib/erltrace/ebin/erltrace.app \
	lib/erltrace/ebin/erltrace_agent.beam lib/erltrace/ebin/dtrace.beam; do
	is "installed: $f" yes "$([ -e "$at/$f" ] && echo yes)"
done

if [ -x "$root/priv/erltrace-kernel" ]; then
	helper=$at/lib/erltrace/priv/erltrace-kernel
	is 'installed: the helper for kernel probes' yes "$([ -x "$helper" ] && echo yes)"
	is 'without capabilities: these are the administrator'"'"'s to give' '' "$(getcap "$helper" 2>/dev/null)"
fi

# ERL_LIBS finds it, by its version.
is 'erltrace in ERL_LIBS' "42 $version" "$(ERL_LIBS=$at/lib erl -noshell -eval '
	ok = application:start(erltrace),
	{ok, H} = erltrace:script("BEGIN { trace(42); exit(0); }"),
	{ok, [{probe, _, N}]} = erltrace:consume(H),
	{ok, Vsn} = application:get_key(erltrace, vsn),
	io:format("~b ~s", [N, Vsn]), halt().')"

epmd_begin
start install_a
is 'the installed command reaches a node' "hi ${pid[install_a]}" "$(timeout 60 "$at/bin/erltrace" -N install_a \
	-qn 'erlang*:::process-spawn {} BEGIN { printf("hi %d", $pid); exit(0); }' 2>&1 | tr -d '\n')"
finish
