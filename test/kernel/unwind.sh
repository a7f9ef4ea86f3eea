#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# ustack() of programs without frame pointers: a program whose stack is known is stopped at every
# instruction of its functions. What has no tables goes by frame pointers, also between code that has
# some. The last line is "N passed, N failed".
# shellcheck disable=SC2016 # $target is D's

# shellcheck source=test/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
export LC_ALL=C
cd "$tmp" || exit 1
trap 'cd /; rm -rf "$tmp"' EXIT

skip() {
	echo "skipped: $1"
	finish
}
why=$(erltrace -qn 'syscall::getppid:entry { } BEGIN { exit(0); }' 2>&1) ||
	skip "no probes of the kernel here: $why"
[ "$(uname -m)" = x86_64 ] || skip 'programs for x86-64'

# Each function has one caller, but leaf(). Stacks are realigned, grow by alloca(), are larger than
# a page; the last functions run in a handler, on a stack of its own, called by a library.
cat >known.c <<'X'
#define _GNU_SOURCE
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#define AS __attribute__((noinline, noclone)) long
#define KEPT(p) __asm__ volatile("" : : "r"(p) : "memory")
static volatile long sink;
AS leaf(long x) { return x * 3 + sink; }
AS pushes(long x)
{
	long a = leaf(x), b = leaf(x + 1), c = leaf(a ^ b), d = leaf(c), e = leaf(d), f = leaf(e);
	return a + b * c + d * e + f + leaf(a + b + c + d + e + f);
}
AS big(long x)
{
	char b[70000];
	KEPT(b);
	return pushes(x) + b[x & 15];
}
AS varying(long x)
{
	char *p = __builtin_alloca((size_t)(x & 255) + 16);
	KEPT(p);
	return big(x) + p[x & 15];
}
AS aligned(long x)
{
	long v[8] __attribute__((aligned(128)));
	KEPT(v);
	return varying(x) + v[0];
}
AS realigned(long a, long b, long c, long d, long e, long f, long g, long h)
{
	long v[8] __attribute__((aligned(64)));
	KEPT(v);
	return aligned(a + b + c + d + e + f + g) + h + v[0];
}
AS shrunk(long x)
{
	if (x == 0)
		return sink;
	long a = realigned(x, 1, 2, 3, 4, 5, 6, 7), b = leaf(a);
	return a * b + leaf(b);
}
AS tail(long x) { return shrunk(x + 1); }
AS varargs(const char *f, ...)
{
	va_list ap;
	va_start(ap, f);
	long r = tail(va_arg(ap, long)) + 1;
	va_end(ap);
	return r;
}
static int compare(const void *a, const void *b)
{
	return (int)varargs("x", 1L) * 0 + *(const int *)a - *(const int *)b;
}
static void handler(int sig)
{
	int v[2] = {2, 1};
	(void)sig;
	qsort(v, 2, sizeof(*v), compare);
}
AS interrupted(long x)
{
	raise(SIGUSR1);
	return x + sink;
}
int main(int argc, char **argv)
{
	stack_t st = {.ss_sp = malloc(1 << 18), .ss_size = 1 << 18};
	struct sigaction sa = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
	(void)argv;
	sigaltstack(&st, NULL);
	sigaction(SIGUSR1, &sa, NULL);
	interrupted(argc);
	return 0;
}
X
chain='pushes big varying aligned realigned shrunk varargs compare handler interrupted main _start'
chain_of() { case $1 in
	leaf) echo "leaf $chain"; echo "leaf shrunk${chain#*shrunk}" ;;
	tail) echo "tail varargs${chain#*varargs}" ;;
	*) echo "$1${chain#*"$1"}" ;;
	esac }
run() { timeout 120 erltrace -qc "./$p" "$@" 2>&1; }
# Each stack that is between two lines "at ...", of the program's functions only, in a line.
stacks() {
	awk -v p="$p\`" 'function put() { if (s != "") print s; s = "" }
		/^at / { put(); next }
		index($1, p) == 1 { sub(p, "", $1); sub(/\+.*/, "", $1); s = s (s == "" ? "" : " ") $1 }
		END { put() }'
}

# ---- every instruction ------------------------------------------------------------------------

functions='leaf pushes big varying aligned realigned shrunk tail varargs compare handler interrupted'
every() { # program, how
	p=$1
	local descs=
	for f in $functions; do
		descs+="${descs:+,}pid\$target:a.out:$f:"
	done
	run -b 16m -n "$descs { printf(\"at %s:%s\\n\", probefunc, probename); ustack(); }" >o
	for f in $functions; do
		is "$2: the stack at each instruction of $f()" "$(chain_of $f | sort)" \
			"$(awk -v at="$f" -F '[ :]' '$1 == "at" { on = $2 == at } on' o | stacks | sort -u)"
	done
	n=$(objdump -d --no-show-raw-insn "$p" | awk '/<pushes>:$/ { on = 1; next } on && !/:\t/ { print n; exit } on && !/nop/ { n++ }')
	is "$2: all of them" $n "$(grep -E '^at pushes:[0-9a-f]+$' o | sort -u | grep -vc 'entry\|return')"
}
for cc in gcc clang; do
	command -v $cc >/dev/null || continue
	for o in 2 s; do
		$cc -O$o -fomit-frame-pointer -w -o known-$cc-$o known.c || continue
		every known-$cc-$o "$cc -O$o"
	done
done
[ -n "$p" ] || skip 'no compiler'
p=known-gcc-2
is 'while returns are traced' "$(chain_of leaf | sort)" \
	"$(run -n 'pid$target:a.out::return { } pid$target:a.out:leaf: { printf("at %s\n", probename); ustack(); }' | stacks | sort -u)"
is 'ucaller at each instruction' 'pushes shrunk' \
	"$(run -n 'pid$target:a.out:leaf: { printf("%A\n", ucaller); }' | sed -n 's/.*`\([a-z]*\).*/\1/p' | sort -u | words)"

# ---- samples: wherever the C library is ---------------------------------------------------------

cat >busy.c <<'X'
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int cmp(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }
int main(void)
{
	char *v[500], line[400], *end;
	alarm(60);
	for (unsigned long n = 0; getppid() != 1; n++) {
		for (int i = 0; i < 500; i++) {
			snprintf(line, sizeof(line), "%d %s %g", rand(), "text", sin((double)(n + i)));
			v[i] = strdup(line);
			memset(line, (int)strtol(v[i], &end, 10), sizeof(line));
		}
		qsort(v, 500, sizeof(*v), cmp);
		for (int i = 0; i < 500; i++)
			free(v[i]);
	}
	return 0;
}
X
p=busy
gcc -O2 -fomit-frame-pointer -o busy busy.c -lm
run -n 'pid$target:a.out:main:entry { } profile-997 /pid == $target && arg1/ { printf("at\n"); ustack(); n++; } profile-997 /n >= 1500/ { exit(0); }' >o
all=$(grep -c ^at o) whole=$(grep -c '`_start' o)
ok "samples have whole stacks: $whole of $all" test $((1000 * whole)) -ge $((995 * all)) -a "$all" -ge 1500

# ---- what is there later ------------------------------------------------------------------------

cat >late.c <<'X'
#include <unistd.h>
long called(long (*f)(long), long x) { long r = f(x); __asm__ volatile(""); return r + 1; }
X
cat >loads.c <<'X'
#include <dlfcn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#define AS __attribute__((noinline, noclone)) long
AS asks(long x) { long r = x + getppid(); __asm__ volatile(""); return r; }
AS through(long (*called)(long (*)(long), long)) { return called(asks, 1) + 1; }
int main(void)
{
	void *lib;
	alarm(30);
	usleep(100000);
	lib = dlopen("./late.so", RTLD_NOW);
	if (fork() != 0)
		return wait(NULL) < 0;
	alarm(30);
	for (;;)
		through((long (*)(long (*)(long), long))dlsym(lib, "called"));
}
X
gcc -O2 -fomit-frame-pointer -fPIC -shared -o late.so late.c
gcc -O2 -fomit-frame-pointer -o loads loads.c -ldl
p=loads
like 'a child, in a library that was loaded later' 'asks.*late.so`called.*through.*main.*_start' \
	"$(run -n 'syscall::getppid:entry /execname == "loads" && ppid == $target && ustackdepth > 5/ { ustack(); exit(0); }' | words)"

# ---- without tables: frame pointers --------------------------------------------------------------

cat >mixed.c <<'X'
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#define AS __attribute__((noinline, noclone)) long
AS outer(long x);
AS inner(long x) { long r = x + getppid(); __asm__ volatile(""); return r; }
typedef long (*generated)(long (*)(long), long);
AS middle(long x)
{
	/* push %rbp; mov %rsp, %rbp; mov %rdi, %rax; mov %rsi, %rdi; call *%rax; pop %rbp; ret */
	static const unsigned char code[] = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0xf8, 0x48, 0x89, 0xf7,
		0xff, 0xd0, 0x5d, 0xc3};
	void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(at, code, sizeof(code));
	for (int i = 0; i < 200; i++) {
		((generated)at)(inner, x);
		usleep(10000);
	}
	return 1;
}
int main(void) { return outer(1) == 0; }
X
cat >outer.c <<'X'
long middle(long x);
long outer(long x) { long r = middle(x); __asm__ volatile(""); return r + 1; }
X
gcc -O2 -fno-omit-frame-pointer -fno-asynchronous-unwind-tables -c outer.c
gcc -O2 -fomit-frame-pointer -o mixed mixed.c outer.o
p=mixed
like 'generated code, and functions without tables, between others' \
	' mixed`inner[^ ]* 0x[0-9a-f]+ mixed`middle[^ ]* mixed`outer[^ ]* mixed`main' \
	" $(run -n 'pid$target:a.out:main:entry { } syscall::getppid:entry /pid == $target && ustackdepth > 7/ { ustack(); exit(0); }' | words)"

# Somebody else's bytes: all that has to come of them is that we go on.
objcopy -O binary --only-section=.eh_frame known-gcc-2 frames
for seed in 1 2 3; do
	(tail -c +$((seed * 997)) known-gcc-2; cat known-gcc-2) | head -c "$(stat -c %s frames)" >wrong
	objcopy --update-section .eh_frame=wrong known-gcc-2 wrong-$seed 2>/dev/null
	p=wrong-$seed
	like "wrong tables $seed" 'leaf' "$(run -n 'pid$target:a.out:leaf:entry /!n++/ { ustack(); }' | words)"
done
finish
