#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Root traces a process of somebody who does not want that: a perf map that is a FIFO, a link,
# somebody else's or gigabytes long, a library that has one symbol table many times. Tracing goes on,
# in little memory, and names what it can. The last line is "N passed, N failed".
# shellcheck disable=SC2016 # $target is D's

# shellcheck source=test/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
export LC_ALL=C
cd "$tmp" || exit 1
victim=
trap '[ -z "$victim" ] || kill "$victim"; rm -rf "$tmp" "/tmp/perf-$victim.map"' EXIT

skip() {
	echo "skipped: $1"
	finish
}
[ "$(id -u)" = 0 ] || skip 'needs root, and another user'
why=$(erltrace -qn 'syscall::getppid:entry { } BEGIN { exit(0); }' 2>&1) ||
	skip "no probes of the kernel here: $why"
[ "$(uname -m)" = x86_64 ] || skip 'a program for x86-64'

# For each line: a system call from code that it made, one from a library, one more that ends a run.
cat >lib.c <<'X'
#include <sys/syscall.h>
#include <unistd.h>
__attribute__((noinline)) long known(void)
{
	long rc;
	__asm__ volatile("syscall" : "=a"(rc) : "a"(SYS_getppid) : "rcx", "r11", "memory");
	return rc;
}
X
cat >victim.c <<'X'
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
long known(void);
int main(void)
{
	static const unsigned char code[] = {0xb8, 110, 0, 0, 0, 0x0f, 0x05, 0xc3};
	char *made = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char line[16];

	memcpy(made, code, sizeof(code));
	printf("%lx\n", (long)made);
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin) != NULL) {
		((long (*)(void))made)();
		known();
	}
	return 0;
}
X
${CC:-cc} -O1 -shared -fPIC -o libhostile.so lib.c && ${CC:-cc} -O1 -o victim victim.c ./libhostile.so ||
	skip 'no compiler'

# What it is traced with gets its section headers anew: one table of symbols, forty times.
python3 - libhostile.so <<'X'
import struct, sys
f = open(sys.argv[1], 'r+b')
b = bytearray(f.read())
shoff, = struct.unpack_from('<Q', b, 0x28)
shnum, shstr = struct.unpack_from('<HH', b, 0x3c)
heads = [list(struct.unpack_from('<IIQQQQIIQQ', b, shoff + 64 * i)) for i in range(shnum)]
names = [h for h in heads if h[1] == 2][0][6]
real = next(h for h in heads if h[1] == 2)
at = (len(b) + (1 << 20)) & ~4095
table = b[real[4]:real[4] + real[5]]
known = [table[i:i + 24] for i in range(0, len(table), 24)][-64:]
f.seek(at)
size = 1 << 21 # symbols
f.write(table)
one = next(s for s in known if s[4] & 15 == 2 and struct.unpack_from('<H', s, 6)[0])
f.write(one * (size - len(table) // 24))
big = [0, 2, 0, 0, at, size * 24, names, 1, 8, 24]
f.seek(0, 2)
end = (f.tell() + 4095) & ~4095
f.seek(end)
for h in heads + [big] * 40:
    if h is real:
        h = big
    f.write(struct.pack('<IIQQQQIIQQ', *h))
f.seek(0x28)
f.write(struct.pack('<Q', end))
f.seek(0x3c)
f.write(struct.pack('<H', shnum + 40))
X

chmod 755 . victim libhostile.so
mkfifo in
setpriv --reuid=65534 --regid=65534 --clear-groups ./victim <in >out &
victim=$!
exec 3>in
holds out . || exit 1
code=$(cat out)
map=/tmp/perf-$victim.map

# Traces three rounds; what it says is in o and e, its memory in kB in rss. It must end by itself.
cat >s.d <<'X'
BEGIN, tick-10ms { printf("armed\n"); }
syscall::getppid:entry /pid == $target/ { @[ufunc(uregs[R_PC])] = count(); n++; }
tick-10ms /n >= 6/ { exit(0); }
X
cat >run.py <<'X'
import resource, subprocess, sys
rc = subprocess.call(['erltrace', '-qp', sys.argv[1], '-s', 's.d'], stdout=open('o', 'w'),
	stderr=open('e', 'w'), timeout=200) # which kills it
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, rc)
sys.exit(rc)
X
run() {
	: >o
	python3 run.py "$victim" >rss 2>>e3 3>&- &
	local tracer=$!
	for ((i = 0; i < 6000; i++)); do
		[ "$(grep -c armed o)" -ge 2 ] && break
		gone "$tracer" && break
		sleep 0.025
	done
	for i in 1 2 3; do echo >&3; done
	wait "$tracer"
	status=$?
}
named() { grep -v armed o | sed '/^ *$/d' | sort | words; }
library='libhostile.so`known 3'

# ---- the symbol table -----------------------------------------------------------------------

run
is 'one table many times: it ends' 0 "$status"
is 'one table many times: names' "0x$(printf %x $((0x$code + 7))) 3 $library" "$(named)"
ok 'one table many times: memory' test "$(cut -d' ' -f1 rss)" -lt 500000

# ---- perf's map -----------------------------------------------------------------------------

echo "$code 100 made_here" >mine
chown 65534 mine
cp -p mine "$map"
run
is 'its own map names its code' "$library made_here 3" "$(named)"

rm "$map"
mkfifo "$map"
chown 65534 "$map"
run
is 'a FIFO: it ends' 0 "$status"
is 'a FIFO: it is no map' "0x$(printf %x $((0x$code + 7))) 3 $library" "$(named)"

rm "$map"
ln -s "$tmp/mine" "$map"
run
is 'a link: it ends' 0 "$status"
is 'a link: it is no map' "0x$(printf %x $((0x$code + 7))) 3 $library" "$(named)"

rm "$map"
cp mine "$map"
chown 1 "$map"
run
is 'another user'\''s: it ends' 0 "$status"
is 'another user'\''s: it is no map' "0x$(printf %x $((0x$code + 7))) 3 $library" "$(named)"

cp mine "$map"
chown 65534 "$map"
truncate -s 6G "$map"
run
is 'six gigabytes: it ends' 0 "$status"
is 'six gigabytes: what is at its beginning' "$library made_here 3" "$(named)"
ok 'six gigabytes: memory' test "$(cut -d' ' -f1 rss)" -lt 500000
ok 'six gigabytes: it is said' grep -q "perf-$victim.map is too large" e

# ---- a VM, or what calls itself one --------------------------------------------------------

# Reading a page of it may take for ever, if its user wants that: nobody has named it, so it is let be.
if command -v strace >/dev/null; then
	mkdir vm && chmod 755 . vm && cp "$(command -v sleep)" vm/beam.smp
	setpriv --reuid=65534 --regid=65534 --clear-groups vm/beam.smp 100 &
	other=$!
	vm/beam.smp 100 &
	own=$!
	for p in "$other" "$own"; do holds "/proc/$p/comm" beam; done
	look() { # more arguments
		strace -f --seccomp-bpf -e trace=openat -o st erltrace "$@" \
			-qn 'profile-97 { @[ustack(2)] = count(); } tick-100ms { exit(0); }' >/dev/null 2>&1
	}
	look
	ok 'our own VM is looked at' grep -q "/proc/$own/mem" st
	ok 'not that of another user' eval "! grep -q '/proc/$other/mem' st"
	look -p "$other"
	ok 'but if it is named' grep -q "/proc/$other/mem" st
	kill "$other" "$own"
fi

finish
