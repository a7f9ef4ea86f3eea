#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The command where a golden test cannot look: signals, terminals, processes, time, the installed
# library. Each check is a function's call; the last line is "N passed, N failed".

# shellcheck disable=SC2016 # $target is D's

# shellcheck source=test/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
cd "$root" || exit 1
lib=$(cd "${LIB:-lib}" && pwd)
trap 'rm -rf "$tmp"' EXIT

# Starts erltrace in the background with SIGINT not ignored, as in an interactive shell.
background() { # output file, arguments...
	local out=$1
	shift
	rm -f "$out" "$out.err" # what it says now, not what one before it said
	set -m
	erltrace "$@" >"$out" 2>"$out.err" &
	pid=$!
	set +m
}

# ---- standard input --------------------------------------------------------------------------

# A socket cannot be opened by its path, but read.
if command -v python3 >/dev/null; then
	ok '-s -: standard input is a socket' python3 - <<'EOF'
import socket, subprocess, sys
ours, its = socket.socketpair()
ours.sendall(b'BEGIN { printf("read\\n"); exit(0); }')
ours.shutdown(socket.SHUT_WR)
sys.exit(subprocess.run(['erltrace', '-qs', '-'], stdin=its, capture_output=True).stdout != b'read\n\n')
EOF
fi

# ---- the library's scripts -------------------------------------------------------------------

# By name, where there is no such file; found beside the command, as built or as installed.
if [[ ${BIN:-bin} == bin ]]; then
	mkdir -p "$tmp/prefix/bin" "$tmp/prefix/share/erltrace/scripts" "$tmp/empty"
	cp bin/erltrace "$tmp/prefix/bin/"
	echo 'BEGIN { printf("of the library\n"); exit(0); }' >"$tmp/prefix/share/erltrace/scripts/own.d"
	for name in own.d own; do
		is "-s $name: the library's" 'of the library' \
			"$(cd "$tmp/empty" && "$tmp/prefix/bin/erltrace" -qs "$name" 2>&1 | head -n 1)"
	done
	echo 'BEGIN { printf("of here\n"); exit(0); }' >"$tmp/empty/own.d"
	is '-s own.d: a file of here comes first' 'of here' \
		"$(cd "$tmp/empty" && "$tmp/prefix/bin/erltrace" -qs own.d 2>&1 | head -n 1)"
fi

# ---- bash completion -------------------------------------------------------------------------

completed() { # words of a command line, the last to be completed
	bash -c '. tools/erltrace.bash-completion
		COMP_WORDS=(erltrace "$@") COMP_CWORD=$#
		_erltrace erltrace; echo "${COMPREPLY[*]}"' - "$@"
}
is 'completion: an option of an output' --speedscope "$(completed --speeds)"
is 'completion: an option without its value' --live "$(completed --liv)"
is 'completion: the file of an output' Makefile "$(completed --perfetto Makef)"
is 'completion: no file where none is taken' '' "$(completed --otlp Makef)"

# ---- little memory ---------------------------------------------------------------------------

# The engine asks for a window of addresses that it may not get: it does without. (A sanitizer's
# runtime needs more.)
if [[ ${BIN:-bin} != *san/* ]]; then
	out=$(
		ulimit -v 2000000 # KiB
		erltrace -qn 'BEGIN { self->x = 1; a["k"] = 2; @["b"] = count(); printf("%d\n", self->x + a["k"]); exit(0); }'
	)
	is 'ulimit -v: exit code' 0 $?
	is 'ulimit -v: output' 3b1 "$(tr -d '[:space:]' <<<"$out")"
	out=$(
		ulimit -v 400000
		erltrace -x bufsize=1g -x bufresize=manual -qn 'BEGIN { @["b"] = count(); exit(0); }' 2>&1
	)
	is 'ulimit -v, too little: exit code' 1 $?
	ok 'ulimit -v, too little: it says so' grep -q memory <<<"$out"
fi

# ---- signals ---------------------------------------------------------------------------------

script='BEGIN { printf("begun\n"); @n["ticks"] = count(); } tick-10ms { @n["ticks"] = count(); } END { printf("end\n"); }'
for sig in INT TERM HUP; do
	background "$tmp/sig" -qn "$script"
	ok "SIG$sig: begun" holds "$tmp/sig" begun
	kill -$sig "$pid"
	wait "$pid"
	ok "SIG$sig: exit code" test $? = 0
	ok "SIG$sig: END" holds "$tmp/sig" '^end$'
	ok "SIG$sig: aggregation" holds "$tmp/sig" 'ticks +[0-9]+'
	ok "SIG$sig: nothing said" test ! -s "$tmp/sig.err"
done

# Two at once are one: timeout(1) signals its child, then the group. Any two that can come together.
rounds=40 whole=0
for ((n = 0; n < rounds; n++)); do
	background "$tmp/both" -qn "$script"
	holds "$tmp/both" begun || break
	case $((n % 3)) in
	0) kill -TERM "$pid" && kill -TERM -- "-$pid" ;;
	1) kill -INT "$pid" && kill -TERM "$pid" ;;
	2) kill -HUP "$pid" && kill -INT -- "-$pid" && kill -TERM "$pid" ;;
	esac 2>/dev/null
	wait "$pid" && [[ $(words <"$tmp/both") =~ ^begun\ end\ ticks\ [0-9]+$ ]] &&
		whole=$((whole + 1))
done
is 'two signals at once: all of the output' $rounds $whole

# One that comes later leaves at once: here END waits for a command that takes long.
background "$tmp/second" -wqn 'BEGIN { printf("begun\n"); } END { printf("ending\n"); system("sleep 30"); }'
ok 'second SIGTERM: begun' holds "$tmp/second" begun
kill -TERM "$pid"
ok 'second SIGTERM: in END' holds "$tmp/second" ending
start=$SECONDS
insist TERM "$pid"
wait "$pid"
ok 'second SIGTERM: by the signal' test $? = 143
ok 'second SIGTERM: before its command' test $((SECONDS - start)) -lt 20

# An ignored SIGINT stays ignored (nohup, shell scripts' background jobs).
(
	trap '' INT
	exec erltrace -qn 'BEGIN { printf("begun\n"); } tick-400ms { exit(0); }' >"$tmp/ign"
) &
pid=$!
holds "$tmp/ign" begun
kill -INT "$pid"
wait "$pid"
ok 'ignored SIGINT' test $? = 0

# ---- who reads -------------------------------------------------------------------------------

timeout 60 erltrace -qn 'tick-1ms { printf("line\n"); } END { freopen("'"$tmp/end"'"); printf("ran\n"); }' -w \
	2>"$tmp/pipe.err" | head -n 1 >/dev/null
ok 'EPIPE: exit code' test "${PIPESTATUS[0]}" = 0
ok 'EPIPE: quiet' test ! -s "$tmp/pipe.err"
ok 'EPIPE: END ran' holds "$tmp/end" ran

erltrace test test/scripts/calls.events >/dev/full 2>"$tmp/full.err"
ok 'erltrace test, a full disk: exit code' test $? = 1
is 'erltrace test, a full disk: told' 'erltrace: failed to write output: No space left on device' "$(cat "$tmp/full.err")"

# A signal while it waits for a reader that is slow: nothing is lost.
if command -v python3 >/dev/null; then
	ok 'SIGINT while it writes to a slow reader: all of the output' python3 - <<'EOF'
import fcntl, signal, subprocess, sys, time
# so few bytes at a time are written all or none
cmd = subprocess.Popen(['erltrace', '-qn', 'tick-20ms { printf("%1000s\\n", "line"); } END { printf("end\\n"); }'],
                       stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
fcntl.fcntl(cmd.stdout, 1031, 4096) # F_SETPIPE_SZ
def writes():
    with open('/proc/%d/syscall' % cmd.pid) as f:
        return f.read().split()[:2] == ['1', '0x1']
while not writes():
    time.sleep(0.01)
cmd.send_signal(signal.SIGINT)
def pending():
    with open('/proc/%d/status' % cmd.pid) as f:
        return any(int(l.split()[1], 16) for l in f if l.startswith(('SigPnd', 'ShdPnd')))
while pending(): # it has the signal before anything is read
    time.sleep(0.01)
out, err = cmd.communicate()
lines = out.decode().split('\n')
sys.exit(cmd.returncode != 0 or err != b'' or 'end' not in lines or
         any(l not in (' ' * 996 + 'line', 'end', '') for l in lines))
EOF
fi

# ---- terminals -------------------------------------------------------------------------------

on_terminal "erltrace -n 'BEGIN { trace(nosuch); }'" >"$tmp/tty"
ok 'caret: source line' grep -qF 'BEGIN { trace(nosuch); }' "$tmp/tty"
ok 'caret: column' grep -qE '^ {18}\^$' "$tmp/tty"
on_terminal "erltrace -qn 'BEGIN { printf(\"%s\n\", \"\\033[31mred\"); exit(0); }'" >"$tmp/esc"
ok 'terminal: escapes in data are shown' grep -qF '\x1b[31mred' "$tmp/esc"
on_terminal "erltrace -qn 'BEGIN { printf(\"%s\n\", \"\\033[31mred\"); @[stack()] = count(); exit(0); }' --folded - >$tmp/fold" >"$tmp/esc"
ok '--folded -: on standard error too' grep -qF '\x1b[31mred' "$tmp/esc"
ok '--folded -: the stacks are elsewhere' grep -qE ' 1$' "$tmp/fold"

# ---- processes -------------------------------------------------------------------------------

timeout 60 erltrace -n 'tick-10ms { } END { printf("target %d\n", $target); }' \
	-c 'sh -c "echo I am $$; exit 3"' >"$tmp/c" 2>"$tmp/c.err"
ok '-c: exit code' test $? = 0
ok '-c: status told' grep -qE '^erltrace: pid [0-9]+ exited with status 3$' "$tmp/c.err"
ok '-c: $target' test "$(sed -n 's/I am //p' "$tmp/c")" = "$(sed -n 's/.*target //p' "$tmp/c")"

timeout 60 erltrace -n 'tick-10ms { }' -c 'sh -c "kill -9 $$"' >/dev/null 2>"$tmp/c.err"
ok '-c: signal told' grep -qE '^erltrace: pid [0-9]+ terminated by 9 ' "$tmp/c.err"

erltrace -qn 'BEGIN { printf("%d\n", $target); } tick-100ms { exit(5); }' -c 'sleep 60' >"$tmp/c"
ok '-c: exit() first' test $? = 5
child=$(head -n 1 "$tmp/c")
for ((i = 0; i < 800; i++)); do gone "$child" && break; sleep 0.025; done
ok '-c: then the command ends' gone "$child"

background "$tmp/k" -qn 'BEGIN { printf("%d\n", $target); }' -c 'sleep 60'
ok '-c: begun' holds "$tmp/k" '^[0-9]+$'
kill -KILL "$pid"
wait "$pid" 2>/dev/null
child=$(head -n 1 "$tmp/k")
ok '-c: killed tracer leaves a command that runs' kill "$child"

printf 'not a program' >"$tmp/junk"
chmod +x "$tmp/junk"
printf '#!/no/such/interpreter\n' >"$tmp/nointerp"
chmod +x "$tmp/nointerp"
timeout 60 erltrace -qn 'tick-10ms { }' -c "$tmp/nointerp" 2>"$tmp/x.err"
ok '-c: exec fails' test $? = 1
ok '-c: exec fails, told' grep -q 'erltrace: failed to execute .*nointerp' "$tmp/x.err"

# It ends when it is traced, however long that takes.
sleep 100 &
victim=$!
background "$tmp/p" -n 'BEGIN { printf("begun\n"); } tick-10ms { } END { printf("%d\n", $target); }' -p $victim
ok '-p: begun' holds "$tmp/p" begun
kill $victim
wait $victim 2>/dev/null
wait "$pid"
ok '-p: exit code' test $? = 0
ok '-p: told' grep -qx "erltrace: pid $victim has exited" "$tmp/p.err"
ok '-p: $target' grep -qE "END $victim\$" "$tmp/p"

# ---- time ------------------------------------------------------------------------------------

# From exec to exit, the best of many: under 30 ms (sanitizers are slower, and not shipped). Others work on this
# machine too: where the first twenty are slower, there are more.
if [[ ${BIN:-bin} != *san* ]]; then
	best=1000000
	for ((i = 0; i < 20 || (best >= 30000 && i < 300); i++)); do
		from=${EPOCHREALTIME/./}
		erltrace -qn 'BEGIN { exit(0); }' >/dev/null
		took=$((${EPOCHREALTIME/./} - from))
		((took < best)) && best=$took
	done
	echo "BEGIN { exit(0); } takes $best us"
	ok 'under 30 ms' test "$best" -lt 30000
fi

# ---- installed -------------------------------------------------------------------------------

if [[ ${BIN:-bin} != *san* ]]; then
	cat >"$tmp/use.c" <<'C'
#include <erltrace.h>
#include <stdio.h>
int main(void)
{
	puts(erltrace_version());
	return 0;
}
C
	# With another prefix than the tree's it would be linked anew, beside tests that run it.
	before=$(stat -c '%i %y' "$(command -v erltrace)")
	make -s install NO_DEPS=1 O="$(dirname "$lib")" DESTDIR="$tmp/root" >"$tmp/install.log" 2>&1
	ok 'make install' test $? = 0
	is 'make install leaves a command alone that others run' "$before" \
		"$(stat -c '%i %y' "$(command -v erltrace)")"
	for f in bin/erltrace lib/liberltrace.a lib/liberltrace.so.0 include/erltrace.h \
		lib/pkgconfig/erltrace.pc share/man/man1/erltrace.1 share/man/man3/liberltrace.3; do
		ok "installed $f" test -e "$tmp/root/usr/local/$f"
	done
	ok 'a program with the installed library' "${CC:-cc}" -o "$tmp/use" "$tmp/use.c" \
		-I"$tmp/root/usr/local/include" -L"$tmp/root/usr/local/lib" -lerltrace
	version=$(LD_LIBRARY_PATH="$tmp/root/usr/local/lib" "$tmp/use")
	ok 'its version is that of pkg-config' \
		grep -qx "Version: $version" "$tmp/root/usr/local/lib/pkgconfig/erltrace.pc"
	if command -v nm >/dev/null; then
		nm -D --defined-only "$lib/liberltrace.so" | awk '$2 != "A" { print $3 }' |
			sed 's/@.*//' | grep -v '^erltrace_' >"$tmp/foreign"
		ok 'only erltrace_* is exported' test ! -s "$tmp/foreign"
		for call in $(grep -oE '\berltrace_[a-z_]+\(' include/erltrace.h | tr -d '(' | grep -v '_cb$' | sort -u); do
			nm -D --defined-only "$lib/liberltrace.so" | grep -q " $call\(@\|\$\)"
			ok "exported $call" test $? = 0
		done
	fi
fi

finish
