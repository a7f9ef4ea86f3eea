#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Kernels before Linux 6.9, which have no arena: the same engine on a map that is mapped, here on the
# kernel of this machine, which refuses what those do not have (test/preload/old_kernel.c). What
# their verifiers accept is another matter: make test-kernel-vm. The last line is "N passed, N failed".

# shellcheck disable=SC2016 # $target is D's
# shellcheck source=test/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
export LC_ALL=C
cd "$tmp" || exit 1
trap 'cd /; rm -rf "$tmp"' EXIT
old() { preloaded old_kernel timeout -k 10 300 erltrace "$@"; }

why=$(erltrace -qn 'syscall::getppid:entry { } BEGIN { exit(0); }' 2>&1 >/dev/null) || {
	echo "skipped: no probes of the kernel here: $why"
	finish
}
cat >calls.c <<'C'
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
__attribute__((noinline)) long twice(long n)
{
	__asm__ volatile("");
	return 2 * n;
}
int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 0;

	for (long i = 0; i < n; i++)
		syscall(SYS_getppid);
	return twice(21) != 42;
}
C
${CC:-cc} -O1 -fno-omit-frame-pointer -o calls calls.c || exit 1

# ---- what scripts do -------------------------------------------------------------------------

is 'every call is counted' '100000 100000' "$(old -qc './calls 100000' -n '
	syscall::getppid:entry /pid == $target/ { @n = count(); }
	syscall::getppid:return /pid == $target/ { @r = count(); } END { printa("%@d %@d", @n, @r); }' 2>&1 | head -1)"
is 'keys, strings, variables of threads' '1000' "$(old -qc './calls 1000' -n '
	syscall::getppid:entry /pid == $target/ { self->t = timestamp; }
	syscall::getppid:return /self->t/ { @[execname, probefunc, timestamp > self->t] = count(); self->t = 0; }
	END { printa("%@d", @); }' 2>&1 | tail -1)"
like 'records, in the order of events' '^getppid calls $' "$(old -qc './calls 1' -n '
	syscall::getppid:entry /pid == $target/ { printf("%s %s\n", probefunc, execname); }' 2>&1 | head -1) "
is 'functions of programs: arguments and what they return' '21 42' "$(old -qc './calls' -n '
	pid$target:a.out:twice:entry { printf("%d ", arg0); }
	pid$target:a.out:twice:return { printf("%d\n", arg1); }' 2>&1 | head -1)"
like 'stacks, of the kernel and of the program' 'calls`main' "$(old -qc './calls' -n '
	pid$target:a.out:twice:entry { ustack(4); }' 2>&1 | tr '\n' ' ')"
# Its loops over 100 words once took more turns than there are.
cat >deep.c <<'C'
#include <unistd.h>
__attribute__((noinline)) int down(int n)
{
	int r = n > 0 ? down(n - 1) : getppid() != 0;

	__asm__ volatile("");
	return r;
}
int main(void)
{
	return down(80) != 1;
}
C
${CC:-cc} -O1 -fno-omit-frame-pointer -o deep deep.c || exit 1
is 'a deep stack as a key' '81 1' "$(old -qc ./deep -n 'pid$target:a.out:main:entry { base = ustackdepth; }
	syscall::getppid:entry /pid == $target/ { d = ustackdepth - base - 1; @[ustack()] = count(); }
	END { printf("%d", d); printa(" %@d", @); }' 2>&1 | tr '\n' ' ' | sed 's/ *$//')"
like 'samples' '^[1-9]' "$(old -qn 'profile-499 { @[pid] = count(); } tick-300ms { printa("%@d\n", @); exit(0); }' 2>&1)"
like 'switches' '^[1-9]' "$(old -qn 'sched:::on-cpu { @ = count(); } tick-300ms { printa("%@d\n", @); exit(0); }' 2>&1)"

long='BEGIN { s = "x"; } syscall::getppid:entry /pid == $target/ {
	s = strjoin(s, "0123456789abcdef0123456789abcdef"); s = strjoin(s, s); s = strjoin(s, s);
	s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s); s = strjoin(s, s);
	s = strjoin(s, s); printf("%d\n", strlen(s)); }'
is 'strings of some thousand bytes' 8448 "$(old -qx strsize=16k -c './calls 1' -n "$long" 2>&1 | head -1)"
is 'json() of a long text' last "$(old -qx strsize=8k -c './calls 1' -n 'BEGIN { s = "{\"a\": [0, {\"b\": \"x\"}]"; }
	syscall::getppid:entry /pid == $target/ { t = ", \"name of a member\": \"its text, some words\"";
	t = strjoin(t, t); t = strjoin(t, t); t = strjoin(t, t); t = strjoin(t, t); t = strjoin(t, t);
	t = strjoin(t, t); s = strjoin(s, strjoin(t, ", \"z\": \"last\"}")); printf("%s\n", json(s, "z")); }' 2>&1 | head -1)"
{
	for ((i = 0; i < 400; i++)); do
		echo "syscall::getppid:entry /pid == \$target/ { @[$i, execname] = count(); }"
	done
} >many.d
is 'hundreds of clauses at one probe' 400 "$(old -qs many.d -n 'END { printa("%@d\n", @); }' -c './calls 1' 2>&1 | grep -c '^1$')"

# ---- what they say where something is not there ------------------------------------------------

out=$(NO_BPF_LOOP=1 old -qx strsize=16k -c './calls 1' -n "$long
	"'ERROR { printf("%d\n", arg4 == DTRACEFLT_LOOP); }' 2>&1)
like 'a loop that is too long is a fault' 'a loop takes more turns than this kernel lets it take' "$out"
like 'the ERROR probe knows it' '^1' "$(grep -x 1 <<<"$out")"
like 'memory that is too much is an error' 'bufsize.* smaller' \
	"$(old -x bufresize=manual -b 200m -n 'syscall::getppid:entry { trace(1); }' 2>&1)"

# ---- nothing stays ---------------------------------------------------------------------------

LD_PRELOAD=$tmp/old_kernel.so erltrace -qn 'syscall::getppid:entry { @ = count(); } BEGIN { printf("on\n"); }' >on 2>&1 &
it=$!
for ((i = 0; i < 600; i++)); do [[ -s on ]] && break; sleep 0.05; done
maps() { ls -l /proc/*/fd 2>/dev/null | grep -c 'bpf-map'; }
had=$(maps)
kill -9 $it; wait $it 2>/dev/null
ok 'killed: its maps are gone' test "$(maps)" -lt "$had"

finish
