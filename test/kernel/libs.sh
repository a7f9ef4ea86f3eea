#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Functions of processes, the odd ones: those that a library chooses by the machine, libraries that
# are loaded while tracing, functions that call themselves, processes in containers (other files,
# other numbers of processes), programs that are no more where they were. The last line is
# "N passed, N failed".

# shellcheck disable=SC2016 # $target is D's
# shellcheck source=test/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
export LC_ALL=C
cd "$tmp" || exit 1
started=
end() {
	local p
	for p in $started; do
		kill -9 "$p" 2>/dev/null # a namespace's first process takes nothing else
	done
	cd / && rm -rf "$tmp"
}
trap end EXIT

if ! why=$(timeout 120 erltrace -qn 'syscall::getpid:entry { } BEGIN { exit(0); }' 2>&1 >/dev/null); then
	echo "skipped: no probes of the kernel here: $why"
	finish
fi
cat >late.c <<'C'
long late(long n) { return n + 1; }
C
# Its library is the last argument; "libs": copies and measures texts. Else calls a function of it,
# again and again, until it is killed.
cat >demo.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
volatile size_t sum;
__attribute__((noinline)) long deep(long n)
{
	long r = n == 0 ? 0 : 1 + deep(n - 1);

	__asm__ volatile("" : "+r"(r));
	return r;
}
__attribute__((noinline)) void beat(long n) { sum += (size_t)n; }
static void texts(void)
{
	char from[64] = "0123456789", to[64];

	for (int i = 0; i < 321; i++) {
		sum += strlen(from + i % 10);
		memcpy(to, from, (size_t)(i % 7));
	}
}
int main(int argc, char **argv)
{
	long (*late)(long) = NULL;
	void *lib = NULL;

	if (strcmp(argv[1], "libs") == 0)
		texts();
	if (strcmp(argv[1], "deep") == 0)
		for (int i = 0; i < 10; i++)
			deep(30);
	if (strcmp(argv[1], "loop") == 0)
		for (long i = 0; i >= 0; i++) {
			if (i == 5 && argc > 2 && (lib = dlopen(argv[2], RTLD_NOW)) != NULL)
				late = (long (*)(long))dlsym(lib, "late");
			beat(i);
			if (late != NULL)
				late(i);
			usleep(2000);
		}
	return 0;
}
C
if ! ${CC:-cc} -O1 -fno-builtin -fno-optimize-sibling-calls -rdynamic -o demo demo.c -ldl 2>cc.err ||
	! ${CC:-cc} -shared -fPIC -o late.so late.c 2>>cc.err; then
	echo "skipped: no compiler: $(head -1 cc.err)"
	finish
fi
t() { timeout 120 erltrace -q "$@" 2>&1 | words; }

# ---- chosen by the machine -------------------------------------------------------------------
if readelf --dyn-syms -W "$(ldd demo | awk '/libc\.so/ { print $3 }')" 2>/dev/null | grep -q 'IFUNC.* strlen@'; then
	is 'strlen and memcpy of libc, which has several' '321 1770 321 960' \
		"$(t -c './demo libs' -n 'pid$target:libc.so.6:strlen:entry /ustackdepth >= 0/ { @a = count(); }
			pid$target:libc.so.6:strlen:return { @b = sum(arg1); }
			pid$target:libc.so.6:memcpy:entry { @c = count(); @d = sum(arg2); }
			END { printa("%@d ", @a); printa("%@d ", @b); printa("%@d ", @c); printa("%@d ", @d); }')"
else
	echo 'skipped: functions chosen by the machine: this libc has none'
fi

# ---- functions that call themselves ------------------------------------------------------------
is 'as many returns as entries, each with its own value' '310 310 30 4650' \
	"$(t -c './demo deep' -n 'pid$target:a.out:deep:entry { @a = count(); }
		pid$target:a.out:deep:return { @b = count(); @m = max(arg1); @s = sum(arg1); }
		END { printa("%@d ", @a); printa("%@d ", @b); printa("%@d ", @m); printa("%@d ", @s); }')"

is 'registers of user space' '1 1 1 30' \
	"$(t -c './demo deep' -n 'pid$target:a.out:deep:entry /!n++/ { printf("%d %d %d", uregs[R_RDI] == arg0,
			uregs[R_SP] > 4096, uregs[R_PC] == ucaller || uregs[R_PC] > 4096); }
		pid$target:a.out:deep:return { @ = max(uregs[R_RAX]); } END { printa(" %@d\n", @); }')"

# ---- loaded while tracing ----------------------------------------------------------------------
# It is called all the time: some entries may be seen before the first return is, which is of one of those.
is 'a library that comes later' 'late.so late entry late.so late return' \
	"$(t -Z -c "./demo loop $tmp/late.so" -n 'BEGIN { n = 0; }
		pid$target:late.so:late:entry { self->n = arg0; }
		pid$target:late.so:late:entry /!n++/ { printf("%s %s %s\n", probemod, probefunc, probename); }
		pid$target:late*::return /arg1 == self->n + 1/ { printf("%s %s %s\n", probemod, probefunc, probename); exit(0); }
		pid$target:late*::return /arg1 != self->n + 1/ { printf("%d %d\n", self->n, arg1); exit(0); }')"
is 'and nothing else' 'late entry' \
	"$(t -Z -c "./demo loop $tmp/late.so" -n 'pid$target:late.so:late:entry { printf("%s %s\n", probefunc, probename); exit(0); }' | sed 's/.*matches no probe //')"
is 'beside what is there already' 'beat late' \
	"$(t -Z -c "./demo loop $tmp/late.so" -n 'pid$target::beat:entry /!n++/ { printf("%s\n", probefunc); }
		pid$target::late:entry { printf("%s\n", probefunc); exit(0); }')"
is 'no process' 'erltrace: failed to match pid*::main:entry: function probes belong to a process: pid1234, or pid$target with -p or -c' \
	"$(erltrace -ln 'pid*::main:entry' 2>&1 >/dev/null)"

# ---- containers --------------------------------------------------------------------------------
# Its own files: the program is at a place that only it has. Its own numbers of processes: for us
# it has another one.
hits() { # pid: which function
	t -p "$1" -n 'pid$target:a.out:beat:entry { printf("%s %s\n", probefunc, execname); ustack(1); exit(0); }'
}
if ! unshare -m true 2>/dev/null; then
	echo 'skipped: processes in containers: unshare is not permitted here'
else
	mkdir only
	unshare -m bash -c 'mount -t tmpfs none only && cp demo only/inside && exec only/inside loop' >/dev/null 2>&1 &
	box=$! started="$started $!"
	disown # the shell says nothing when it is killed
	holds "/proc/$box/comm" inside || echo 'no process in its own files'
	is 'its files are its own' no "$([ -e only/inside ] && echo yes || echo no)"
	is 'a process with files of its own' 'beat inside inside`beat' "$(hits "$box")"
	unshare -p -f --kill-child --mount-proc "$tmp/demo" loop >/dev/null 2>&1 &
	box=$! started="$started $!"
	disown # the shell says nothing when it is killed
	inner=
	for ((i = 0; i < 1200; i++)); do
		inner=$(ps -o pid= --ppid "$box" | words)
		[ -n "$inner" ] && [ "$(cat "/proc/$inner/comm" 2>/dev/null)" = demo ] && break
		sleep 0.05
	done
	started="$started $inner"
	is 'it is number 1 where it is' 1 "$(awk '/^NSpid:/ { print $NF }' "/proc/$inner/status")"
	is 'a process in a namespace of its own' 'beat demo demo`beat' "$(hits "$inner")"
fi

# ---- replaced while it runs ----------------------------------------------------------------------
cp demo gone
./gone loop >/dev/null 2>&1 &
box=$! started="$started $!"
disown # the shell says nothing when it is killed
holds "/proc/$box/comm" gone || echo 'no process of it'
rm gone
is 'a program whose file was removed' 'beat gone' "$(hits "$box" | cut -d' ' -f1,2)"
finish
