#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# --folded of a script in the kernel: keys, then the program's frames, then those of the kernel, the
# outermost first; as many as there were.

# shellcheck disable=SC2016 # $target is D's
# shellcheck source=test/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
cd "$tmp" || exit 1
trap 'cd / && rm -rf "$tmp"' EXIT
if ! erltrace -qn 'syscall::getppid:entry { } BEGIN { exit(0); }' >/dev/null 2>why; then
	echo "skipped: no probes of the kernel here: $(head -n 1 why)"
	echo '0 passed, 0 failed'
	exit 0
fi

# The program is there until its frames have been named: it waits for what never comes.
mkfifo never
cat >writes.sh <<'EOF'
for ((i = 0; i < 300; i++)); do printf x; done >/dev/null
read -r line <>never
EOF
erltrace -qn 'syscall::write:entry /pid == $target && arg0 == 1/ { @[execname, stack(), ustack()] = count(); n++; }
	tick-100ms /n == 300/ { exit(0); }' \
	-c 'bash writes.sh' --folded f --pprof p >o 2>e
is 'exit' 0 $?
is 'each write' 300 "$(awk '/write/ { n += $NF } END { print n }' f)"
ok 'the command first' test -z "$(grep -v '^bash;' f)"
ok 'the kernel inside of the program' grep -qE '^bash;.*libc[^;]*`[^;]*write[^;]*;(.*;)?vmlinux`' f
ok 'no offsets' test -z "$(grep -F +0x f)"
ok 'gzip reads it' gzip -t <p
finish
