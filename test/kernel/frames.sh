#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Stacks and names of programs at probes of the kernel: the caller of a function that has just been
# entered, with frame pointers and without; names of stripped programs from debug files; addresses
# that are $target's. The last line is "N passed, N failed".
# shellcheck disable=SC2016 # $target is D's

# shellcheck source=test/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
export LC_ALL=C
cd "$tmp" || exit 1
program=
trap '[ -z "$program" ] || kill "$program"; rm -rf "$tmp"' EXIT

skip() {
	echo "skipped: $1"
	finish
}
why=$(erltrace -qn 'syscall::getppid:entry { } BEGIN { exit(0); }' 2>&1) ||
	skip "no probes of the kernel here: $why"
[ "$(uname -m)" = x86_64 ] || skip 'programs for x86-64'

# leaf() has no frame of its own, saves() saves registers first, self() calls itself.
cat >calls.c <<'X'
#include <stdio.h>
#include <unistd.h>
#define AS __attribute__((noinline, noclone)) long
AS leaf(long x) { __asm__ volatile(""); return x + 1; }
AS hidden(long x) { long r = leaf(x); __asm__ volatile(""); return r + getppid(); }
AS saves(long x)
{
	__asm__ volatile("" : : : "rbx", "r12", "r13", "r14", "r15");
	return hidden(x) + leaf(x);
}
AS self(long x)
{
	long r = x > 0 ? self(x - 1) : saves(x);
	__asm__ volatile("");
	return r + 1;
}
AS middle(long x) { long r = self(x); __asm__ volatile(""); return r + 1; }
int main(int argc, char **argv)
{
	char line[16];

	if (argc > 1)
		return middle(3) == 0;
	while (fgets(line, sizeof(line), stdin) != NULL)
		middle(3);
	return 0;
}
X
flags='-O1 -g0 -fno-optimize-sibling-calls -Wl,--build-id=sha1'
for how in omit-frame-pointer no-omit-frame-pointer; do
	for cf in none full; do
		# shellcheck disable=SC2086
		${CC:-cc} $flags -f$how -fcf-protection=$cf -o $how-$cf calls.c 2>cc.err ||
			skip "no compiler: $(head -1 cc.err)"
	done
done

run() { timeout 60 erltrace -qc "./$p x" "$@" 2>&1; }
# Functions of the program without offsets, in one line.
plain() { sed -n "s/^ *$p\`\([a-z_]*\).*/\1/p" | words; }

# ---- the caller ---------------------------------------------------------------------------------

for p in {no-,}omit-frame-pointer-{none,full}; do
	is "$p: the caller of a leaf" 'hidden saves' \
		"$(run -n 'pid$target:a.out:leaf:entry { printf("%A\n", ucaller); }' | plain)"
	is "$p: the caller at a return" 'hidden saves' \
		"$(run -n 'pid$target:a.out:leaf:return { printf("%A\n", ucaller); }' | plain)"
	is "$p: itself and its caller" 'saves self' \
		"$(run -n 'pid$target:a.out:saves:entry { ustack(2); }' | plain)"
	is "$p: when it returns" 'saves self' \
		"$(run -n 'pid$target:a.out:saves:return { ustack(2); }' | plain)"
	# before anything is saved, after each register is, and where it returns
	n=$(objdump -d --no-show-raw-insn "$p" | awk '/<saves>:$/ { on = 1; next } on && /push|endbr/ { n++; next }
		on { print n; exit }')
	is "$p: at its first instructions" "$(yes self | head -n $((n + 1)) | words)" \
		"$(run -n 'pid$target:a.out:saves:[0-9a-f],pid$target:a.out:saves:[0-9a-f]? { printf("%A\n", ucaller); }' |
			plain | cut -d' ' -f 1-$((n + 1)))"
	off=$(objdump -d --no-show-raw-insn "$p" | awk '/<saves>:$/ { at = $1 } /ret/ && at { sub(":", "", $1); print at, $1; exit }')
	is "$p: where it returns" self \
		"$(run -n "pid\$target:a.out:saves:$(printf %x $((0x${off#* } - 0x${off% *}))) { printf(\"%A\\n\", ucaller); }" | plain)"
done
for p in {no-,}omit-frame-pointer-{none,full}; do
	is "$p: all of it, once each" 'leaf hidden saves self self self self middle main _start' \
		"$(run -n 'pid$target:a.out:leaf:entry /!n++/ { ustack(); }' | plain)"
	is "$p: one that calls itself" '1 2 3 4' \
		"$(run -n 'pid$target:a.out:middle:entry { base = ustackdepth; }
			pid$target:a.out:self:entry { printf("%d\n", ustackdepth - base); }' | words)"
done

# ---- the kernel's own stack -----------------------------------------------------------------------

run -n 'syscall::getppid:entry /pid == $target/ { stack(); printf("%A\n", caller); }
	syscall::getppid:return, proc:::exit, sched:::off-cpu /pid == $target/ { stack(); }' >o
hasnt 'stack() has no frames of BPF' 'bpf|traceiter'
if grep -q '[1-9a-f].* T do_syscall_64$' /proc/kallsyms 2>/dev/null; then
	has 'but of the kernel' 'vmlinux`do_syscall_64'
fi

# ---- names --------------------------------------------------------------------------------------

# An address that a process hands over: 1 while it is there, 2 when the script ends.
named() { # program; or a command that ends with it
	mkfifo in
	"$@" <in >/dev/null &
	program=$!
	exec 3>in
	: >o
	timeout 60 erltrace -qp $program -n 'BEGIN, tick-10ms { printf("armed\n"); }
		syscall::getppid:entry /pid == $target/ { a = uregs[R_PC]; ustack(3); done = 1; }
		pid$target:a.out:main:entry { }
		tick-10ms /done/ { exit(0); } END { printf("%A\n", a); }' >o 2>e 3>&- -Z &
	local tracer=$!
	ok 'it traces' holds o armed
	for ((i = 0; i < 1200; i++)); do
		echo >&3
		gone $tracer && break
		sleep 0.05
	done
	wait $tracer
	exec 3>&-
	wait $program
	program=
	rm in
	grep -v armed o >x && mv x o
}
p=no-omit-frame-pointer-none
named ./$p
has '%A of an address of $target, at the end' '^libc.so.6`(__)?getppid'
has 'the program has its names' "^ *$p\`saves"

# The same without names, and each of the ways to find them.
objcopy --only-keep-debug $p $p.debug
strip -o bare $p
named ./bare
hasnt 'without names: none' 'bare`'
has 'without names: where it is in the file' '^ *bare\+0x[0-9a-f]+$'

mkdir other
cp bare other/linked
(cd other && cp ../$p.debug linked.debug && objcopy --add-gnu-debuglink=linked.debug linked)
named ./other/linked
has 'by .gnu_debuglink' '^ *linked`saves'
mkdir other/.debug && mv other/linked.debug other/.debug/
named ./other/linked
has 'by .gnu_debuglink, in .debug' '^ *linked`saves'
objcopy --strip-symbol=saves --remove-section=.note.gnu.build-id other/.debug/linked.debug
objcopy --remove-section=.note.gnu.build-id other/linked 2>/dev/null
named ./other/linked
hasnt 'a debug file with another checksum is none' 'linked`'

if command -v xz >/dev/null; then
	cp $p.debug mini.debug
	xz -kf mini.debug
	cp bare packed
	objcopy --add-section .gnu_debugdata=mini.debug.xz packed
	named ./packed
	has 'by .gnu_debugdata' '^ *packed`saves'
fi

# The kernel's code in each process is no file; its addresses have a name all the same.
cat >times.c <<'X'
#include <time.h>
#include <unistd.h>
int main(void)
{
	alarm(60);
	while (time(NULL) != 0)
		;
}
X
if ${CC:-cc} -O1 -o times times.c 2>/dev/null && grep -q vdso /proc/self/maps; then
	timeout 60 erltrace -qc ./times -n 'profile-997 /pid == $target && arg1/ { @[umod(arg1)] = count(); @s[ustack(1)] = count(); n++; }
		profile-997 /n >= 300/ { exit(0); }' >o 2>e
	has 'the module [vdso]' '^ *\[vdso\] +[0-9]+$'
	has 'a frame of it' '^ *\[vdso\]\+0x[0-9a-f]+$'
	hasnt 'no bare address' '^ *0x[0-9a-f]+$'
fi

# By the build id, below the root directory that the process has.
# shellcheck disable=SC2086
if [ "$(id -u)" = 0 ] && ${CC:-cc} $flags -static -fno-omit-frame-pointer -o root-static calls.c 2>/dev/null; then
	id=$(readelf -n root-static | awk '/Build ID/ { print $3 }')
	mkdir -p root/usr/lib/debug/.build-id/"${id:0:2}"
	objcopy --only-keep-debug root-static root/usr/lib/debug/.build-id/"${id:0:2}/${id:2}.debug"
	strip -o root/inside root-static
	named chroot root /inside
	has 'by the build id, in a container' '^ *inside`saves'
fi
finish
