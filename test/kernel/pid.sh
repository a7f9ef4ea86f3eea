#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Probes of programs and libraries: pid and usdt, on a program whose calls are known, and on a
# running beam.smp. The last line is "N passed, N failed"; where the kernel does not let us, what
# needs it is skipped, which is said.

# shellcheck disable=SC2016 # $target is D's
# shellcheck source=test/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
export LC_ALL=C
node=
cd "$tmp" || exit 1
trap '[ -z "$node" ] || kill "$node"; [ ! -s up ] || kill "$(cat up)"; rm -rf "$tmp"' EXIT


cat >demo.c <<'END'
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A probe as SystemTap's header makes them. */
#define NOTE(name, semaphore, args) \
	"990: nop\n" \
	".pushsection .note.stapsdt,\"\",@note\n" \
	".balign 4\n" \
	".4byte 992f-991f, 994f-993f, 3\n" \
	"991: .asciz \"stapsdt\"\n" \
	"992: .balign 4\n" \
	"993: .8byte 990b, _.stapsdt.base, " semaphore "\n" \
	".asciz \"demo\"\n.asciz \"" name "\"\n.asciz \"" args "\"\n" \
	"994: .balign 4\n" \
	".popsection\n" \
	".ifndef _.stapsdt.base\n" \
	".pushsection .stapsdt.base,\"aG\",\"progbits\",.stapsdt.base,comdat\n" \
	".weak _.stapsdt.base\n.hidden _.stapsdt.base\n" \
	"_.stapsdt.base: .space 1\n.size _.stapsdt.base, 1\n" \
	".popsection\n.endif\n"

__attribute__((section(".probes"), used)) volatile unsigned short demo_semaphore;
volatile int counter = 100;

__attribute__((noinline)) long work(long a, const char *s, int c)
{
	__asm__ volatile("");
	return 2 * a + c + (s[0] == 'x');
}
long _work_other(long a, const char *s, int c) __attribute__((alias("work")));
long work_weak(long a, const char *s, int c) __attribute__((weak, alias("work")));

__attribute__((noinline)) long many(long a, long b, long c, long d, long e, long f, long g, long h,
	long i, long j)
{
	__asm__ volatile("");
	return a + b + c + d + e + f + g + h + i + j;
}

__attribute__((noinline)) void name(void *function)
{
	__asm__ volatile("" : : "r"(function));
}

__attribute__((noinline)) void step(int i, const char *s, long *table)
{
	__asm__ volatile(NOTE("step__done", "demo_semaphore",
				 "-4@%0 8@%1 -8@%2 -4@%3 4@counter(%%rip) -1@%b5 8@%6 8@8(%7,%8,8) 8f@%%xmm0")
			 :
			 : "r"(i), "r"(s), "n"(-17), "m"(counter), "m"(counter), "r"((long)-i),
			 "m"(table[i % 4]), "r"(table), "r"((long)(i % 3)));
	__asm__ volatile(NOTE("plain", "0", ""));
}

int main(int argc, char **argv)
{
	static long table[4] = {1000, 2000, 3000, 4000};
	char line[16];
	long sum = 0;

	do {
		if (argc == 1 && fgets(line, sizeof(line), stdin) == NULL)
			return 0;
		for (int i = 0; i < 1000; i++)
			sum += work(i, i % 2 ? "odd" : "even", 7);
		sum += many(1, 2, 3, 4, 5, 6, 7, 8, 9, 10);
		for (int i = 0; i < 5; i++)
			name((void *)work);
		counter = 100;
		for (int i = 0; i < 300; i++) {
			counter++;
			step(i, i % 3 ? "other" : "third", table);
		}
		printf("semaphore %d\n", demo_semaphore);
		fflush(stdout);
	} while (argc == 1);
	return 0;
}
END
if [ "$(uname -m)" != x86_64 ] || ! ${CC:-cc} -O2 -g0 -o demo demo.c 2>cc.err; then
	echo "skipped: no compiler for programs of x86-64 $(head -1 cc.err 2>/dev/null)"
	echo "0 passed, 0 failed"
	exit 0
fi

if ! erltrace -ln syscall::read:entry >/dev/null 2>&1; then
	echo "skipped: this erltrace was built without the kernel engine"
	echo "0 passed, 0 failed"
	exit 0
fi

# ---- lists: no permission needed ----------------------------------------------------------

list() { erltrace "$@" 2>&1 | awk 'NR > 1 { print $3, $4, $5 }' | sort | words; }
is 'the functions of a command' 'demo many entry demo work entry demo work return' \
	"$(list -c './demo x' -ln 'pid$target:a.out:work:entry,pid$target:a.out:work:r*,pid$target:demo:m?ny:entry')"
insns=$(objdump -d --no-show-raw-insn demo 2>/dev/null | awk '/<work>:$/ { sub(":", ""); at = $1; on = 1; next }
	on && $1 !~ /:$/ { exit }
	on { sub(":", "", $1); print at, $1 }' | while read -r at insn; do printf '%x\n' $((0x$insn - 0x$at)); done)
if [ -n "$insns" ]; then
	all=$({ echo "$insns"; printf 'entry\nreturn\n'; } | sort | words)
	for name in '' '*'; do
		is "func:$name is all of a function" "$all" \
			"$(erltrace -c './demo x' -ln 'pid$target:a.out:work:'"$name" | awk 'NR > 1 { print $5 }' | sort | words)"
	done
	is 'offsets by a glob' "$(echo "$insns" | grep -E '^.$' | sort | words)" \
		"$(erltrace -c './demo x' -ln 'pid$target:a.out:work:?' | awk 'NR > 1 { print $5 }' | sort | words)"
fi
echo 'void large(void) { __asm__(".rept 260000; nop; .endr"); } int main(void) { return 0; }' >large.c
"${CC:-cc}" -o large large.c
is 'not every instruction of a large program' 1 \
	"$(erltrace -c './large' -ln 'pid$target:large::' 2>&1 >/dev/null | grep -c 'more than 250000 instructions match: name a function')"
is 'an alias is the same function' 'demo work entry demo work return' \
	"$(list -c './demo x' -ln 'pid$target:a.out:*work*:entry,pid$target:a.out:*work*:return')"
is 'by its own name if that was asked for' 'demo _work_other entry' \
	"$(list -c './demo x' -ln 'pid$target:a.out:_work_other:entry')"
for name in libc libc.so libc.so.6; do
	is "$name is a name of libc.so.6" 'libc.so.6 malloc entry' \
		"$(list -c './demo x' -ln 'pid$target:'$name':malloc:entry')"
done
is 'a module by its name' 'libc.so.6 malloc entry' "$(list -c './demo x' -ln 'pid$target:libc.so.6:malloc:entry')"
is 'probes of a program' 'demo step plain demo step step-done' \
	"$(list -c './demo x' -ln 'demo$target:::')"
is 'their arguments' 'int32_t uint64_t int64_t int32_t uint32_t int8_t uint64_t uint64_t uint64_t' \
	"$(erltrace -c './demo x' -lvn 'demo$target:::step-done' | sed -n 's/.*args\[.\]: //p' | words)"
is 'a return that cannot be traced without harm' \
	'erltrace: failed to match pid$target:a.out:_start:return: no probe matches the description' \
	"$(erltrace -c './demo x' -ln 'pid$target:a.out:_start:return' 2>&1 >/dev/null)"
told() { erltrace "$@" 2>&1 >/dev/null; }
like 'no provider kprobe' 'there is no provider kprobe here: functions of the kernel are fbt:.*there are dtrace, profile, syscall' \
	"$(told -n 'kprobe::vfs_read:entry { }')"
like 'no provider kprobe, in a list' 'failed to match kprobe:::: there is no provider kprobe here' "$(told -lP kprobe)"
like 'nor one of any name' 'there is no provider nosuch here: there are dtrace' "$(told -n 'nosuch:::x { }')"
for flag in n ln; do
	like "-$flag: usdt by a glob needs a process" 'belong to a process: name it with -p or -c, or by its number' \
		"$(told -$flag 'python*:::gc-start')"
done
like 'and that process has none' 'have no such probes' "$(told -c './demo x' -n 'python*:::gc-start { }')"
is 'usdt by a glob, of a command' 'demo step plain demo step step-done' "$(list -c './demo x' -ln 'dem*:::')"
like '$target is 0 without a process' 'pid1234, or pid\$target with -p or -c' "$(told -n 'pid$target::main:entry { }')"
like '$target is 0 for usdt too' 'there is no process 0' "$(told -n 'demo$target:::step-done { }')"
if unshare -Ur true 2>/dev/null; then
	like 'root of another user namespace' 'CAP_PERFMON, in the initial user namespace' \
		"$(unshare -Ur "$(command -v erltrace)" -n 'syscall::getppid:entry { }' 2>&1)"
fi
is 'no such process' \
	'erltrace: failed to match pid99999999::main:entry: there is no process 99999999' \
	"$(erltrace -ln 'pid99999999::main:entry' 2>&1 >/dev/null)"

# A node that has come up says so.
command -v erl >/dev/null && erl -noshell -eval '
	P = spawn(fun F() -> receive {S, go} -> S ! gone; _ -> ok end, F() end),
	T = list_to_tuple(lists:seq(1, 200)),
	W = fun W() -> case file:read_file("go") of
		{ok, _} -> [P ! T || _ <- lists:seq(1, 500)], P ! {self(), go},
			receive gone -> file:write_file("went", "x") end;
		_ -> timer:sleep(20), W() end end,
	file:write_file("up", os:getpid()), W(), receive stop -> ok end.' \
	>/dev/null 2>&1 </dev/null &
node=$!
for ((i = 0; i < 600; i++)); do
	{ [ -s up ] || ! kill -0 "$node" 2>/dev/null; } && break
	sleep 0.1
done
if [ -s up ]; then
	beam=$(cat up)
	file=$(readlink "/proc/$beam/exe")
	is 'copying functions of a running beam.smp' \
		"$(readelf --dyn-syms -W "$file" | awk '$4 == "FUNC" && $7 != "UND" && $8 ~ /^copy_s/ { print $8 }' |
			sort | words)" \
		"$(erltrace -ln "pid$beam:beam.smp:copy_s*:entry" | awk 'NR > 1 { print $4 }' | sort | words)"
	n=$(erltrace -ln "pid$beam:beam.smp::entry" | tail -n +2 | wc -l)
	is 'thousands of functions of it' yes "$([ "$n" -gt 3000 ] && echo yes || echo "$n")"
fi

# ---- tracing ------------------------------------------------------------------------------

if ! erltrace -qn 'syscall::getpid:entry { } BEGIN { exit(0); }' 2>why; then
	echo "skipped: tracing: $(head -1 why)"
	finish
fi
run() { erltrace -qc './demo x' "$@" 2>&1 | sed 's/semaphore [0-9]*$//' | words; }

is 'calls, arguments and strings' '499500 even 7 500 odd 7 500' \
	"$(run -n 'pid$target:a.out:work:entry { @s = sum(arg0); @[copyinstr(arg1), arg2] = count(); }')"
is 'aliases: each call is seen once' 'work 1000' \
	"$(run -n 'pid$target:a.out:*work*:entry { @[probefunc] = count(); }')"
is 'aliases: and each return' 'work 1000' \
	"$(run -n 'pid$target:a.out:*work*:return { @[probefunc] = count(); }')"
is 'what it returns' '1000 0 1006000' \
	"$(run -n 'pid$target::work:return { @n = count(); @o = sum(arg0); @s = sum(arg1); }')"
is 'ten arguments' '1 2 3 4 5 6 7 8 9 10' \
	"$(run -n 'pid$target::many:entry { printf("%d %d %d %d %d %d %d %d %d %d\n",
		arg0, arg1, arg2, arg3, arg4, arg5, arg6, arg7, arg8, arg9); }')"
is 'entry and return make pairs' '1000 0 1000' \
	"$(run -n 'pid$target::work:entry { self->in = timestamp; @e = count(); }
		pid$target::work:return /!self->in/ { lost++; }
		pid$target::work:return /self->in/ { @p = count(); self->in = 0; }
		END { printa("%@d", @e); printf(" %d ", lost); printa("%@d", @p); }')"
# The second instruction of a function, and a byte that is inside of one.
second=$(objdump -d --no-show-raw-insn demo 2>/dev/null | awk '/<many>:/ { n = 1; next }
	n == 1 { sub(":", "", $1); first = $1; n = 2; next }
	n == 2 { sub(":", "", $1); print first, $1; exit }')
if [ -n "$second" ]; then
	offset=$(printf '%x' $((0x${second#* } - 0x${second% *})))
	is 'an instruction inside of a function' "many $offset" \
		"$(run -n 'pid$target:a.out:many:'"$offset"' { printf("%s %s", probefunc, probename); }')"
	is 'no instruction there' 1 \
		"$(erltrace -c './demo x' -ln 'pid$target:a.out:many:1' 2>&1 | grep -c 'no probe matches')"
fi
is 'a library' 301 "$(run -n 'pid$target:libc.so.6:fflush:entry, demo$target:::plain { @ = count(); }')"
is 'usdt arguments' '300 44850 -5100 75150 400 -128 750000 900000 0' \
	"$(run -n 'demo$target:::step-done { @a = count(); @b = sum(arg0); @c = sum(arg2); @d = sum(arg3);
		@e = max(arg4); @f = min(arg5); @g = sum(arg6); @h = sum(arg7); @i = sum(arg8); }')"
is 'usdt strings' 'third step 100 other step 200' \
	"$(run -n 'demo$target:a.out:step:step-done { @[copyinstr(arg1), probefunc] = count(); }')"
is 'names of its addresses, when it has ended' 'demo`work demo demo`work+0x1 5' \
	"$(run -n 'pid$target::name:entry { @[ufunc(arg0), umod(arg0), uaddr(arg0 + 1)] = count(); }')"
is 'the same by %A' 'demo`work' \
	"$(run -n 'pid$target::name:entry /!n++/ { printf("%A", arg0); }')"

# Functions of a running beam.smp: messages of 201 words are copied.
if [ -s up ]; then
	: >beam.out # it is looked at before the command begins
	erltrace -qn "BEGIN { printf(\"on\\n\"); } pid$beam:beam.smp:copy_struct_x:entry /arg1 == 201/ { @ = count(); }
		tick-20ms { printf(\"on\\n\"); }" >beam.out 2>&1 &
	tracer=$!
	for ((i = 0; i < 1200 && $(grep -c on beam.out) < 2; i++)); do
		kill -0 "$tracer" 2>/dev/null || break
		sleep 0.05
	done
	touch go
	for ((i = 0; i < 1200; i++)); do
		[ -s went ] && break
		sleep 0.05
	done
	kill "$tracer"
	wait "$tracer"
	is 'calls in a running beam.smp' 500 "$(grep -v on beam.out | words)"
fi

# One that goes on: its semaphore counts those who trace it.
coproc ./demo
demo=$COPROC_PID
round() { echo >&"${COPROC[1]}" && read -r line <&"${COPROC[0]}" && echo "$line"; }
is 'nobody traces' 'semaphore 0' "$(round)"
erltrace -qp "$demo" -n 'demo$target:::step-done { n++; }
	demo$target:::step-done /n == 450/ { exit(0); } END { printf("%d\n", n); }' >out 2>&1 &
tracer=$!
seen=no # at the end of the round before the last it must be there
for ((i = 0; i < 1200; i++)); do
	kill -0 "$tracer" 2>/dev/null || break
	[ "$(round)" = 'semaphore 1' ] && seen=yes
	sleep 0.05
done
is 'one traces' yes "$seen"
kill "$tracer" 2>/dev/null
wait "$tracer"
is 'until it has seen them all' 450 "$(words <out)"
is 'nobody traces any more' 'semaphore 0' "$(round)"

finish
