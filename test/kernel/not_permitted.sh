#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Where probes of the kernel may not be had: a user without privilege, a kernel without BPF
# arenas. Scripts of nodes and of the command itself work all the same; the others say what is
# missing, and the exit code is 1. The last line is "N passed, N failed".
#
# Run by root it does all of this as nobody.

# shellcheck disable=SC2016 # $target is D's
here=$(cd "$(dirname "$0")" && pwd)
self=$here/$(basename "$0")
if [ "${1-}" != inside ] && [ "$(id -u)" = 0 ]; then
	as=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs)
	bin=$(cd "$here/../.." && cd "${BIN:-bin}" && pwd)
	if ! "${as[@]}" test -x "$bin/erltrace" || ! "${as[@]}" test -r "$self"; then
		echo 'skipped: without privilege: nobody may not read this folder'
		echo '0 passed, 0 failed'
		exit 0
	fi
	cd / && exec "${as[@]}" env TMPDIR=/tmp bash "$self" inside
fi
# shellcheck source=test/lib/nodelib.sh
. "$here/../lib/nodelib.sh"
erltrace -ln syscall::read:entry >/dev/null 2>&1 || skip 'built without the kernel engine'
cd "$tmp" || exit 1
trap 'cd /; rm -rf "$tmp"' EXIT

# ---- without privilege -------------------------------------------------------------------------
grep -q '^CapEff:\s*0*$' /proc/self/status || skip 'this user has privileges that are not of root'
is 'the command itself' 'ok' "$(erltrace -qn 'BEGIN { printf("ok"); exit(0); }' 2>&1 | head -1)"
for d in 'syscall::read:entry' 'sched:::on-cpu' 'proc:::exit' 'pid$target:libc.so.6:malloc:entry' \
	'profile-97 /pid == 1/'; do
	said=$(timeout 60 erltrace -qc /bin/true -n "$d { n++; }" 2>&1)
	is "$d: exit code" 1 $?
	case $said in
	*'need root, or the capabilities CAP_BPF and CAP_PERFMON'*) said=told ;;
	esac
	is "$d: says what is missing" told "$said"
done
# Samples never show the command itself. What needs no privileges is said.
for expr in 'ustack()' 'ucaller' 'uregs[R_SP]' 'erlpid' 'erlname' 'erlsched' 'execname' 'arg1' 'vtimestamp' 'errno'; do
	for more in '' "-p $$" '-c /bin/true'; do
		# shellcheck disable=SC2086 # an option and its argument
		said=$(timeout 60 erltrace $more -qn "profile-499 { @[$expr] = count(); } tick-1s { exit(0); }" 2>&1)
		is "profile-499, $expr $more: exit code" 1 $?
		case $said in
		*'need root'*'erltrace -N NODE'*) said=told ;;
		esac
		is "profile-499, $expr $more: says what is missing, and what works" told "$said"
	done
done
said=$(timeout 60 erltrace -xkernel=off -qn 'profile-499 { @[ustack()] = count(); } tick-1s { exit(0); }' 2>&1)
is 'without the kernel: exit code' 1 $?
case $said in
*'kernel=off excludes'*'erltrace -N NODE'*) said=told ;;
esac
is 'without the kernel: says why, and what works' told "$said"
is 'a list needs no privilege' 2 "$(erltrace -ln 'syscall::getppid:' | grep -c getppid)"
is 'profile-N that asks for nothing of others' 'ok' \
	"$(timeout 60 erltrace -qn 'profile-97 { printf("ok\n"); exit(0); }' 2>&1 | head -1)"

# ---- an old kernel -----------------------------------------------------------------------------
# The system call bpf() fails as there.
cat >old.c <<'C'
#include <errno.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)atoi(argv[1])),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_fprog prog = {sizeof(code) / sizeof(*code), code};

	if (argc < 3 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) != 0)
		return 99;
	execvp(argv[2], argv + 2);
	return 98;
}
C
if ! ${CC:-cc} -o old old.c 2>cc.err || ! ./old 38 true; then
	echo "skipped: an old kernel: system calls cannot be made to fail here $(head -1 cc.err)"
else
	for errno in 22 38; do # EINVAL: no such map; ENOSYS: no bpf() at all
		said=$(./old $errno erltrace -qn 'syscall::read:entry { n++; }' 2>&1)
		is "errno $errno: exit code" 1 $?
		case $said in
		*"need Linux 6.1 or newer"*"this is Linux $(uname -r)"*) said=told ;;
		esac
		is "errno $errno: says which kernel it needs, and which this is" told "$said"
		is "errno $errno: what needs none works" ok \
			"$(./old $errno erltrace -qn 'BEGIN { printf("ok\n"); exit(0); }' 2>&1 | head -1)"
	done
fi

# ---- nodes -------------------------------------------------------------------------------------
command -v erl >/dev/null || finish
nodes_begin 120 bare
epmd_begin
start kmay_a
trace kmay_a -qn 'erlang*:lists:zip3/3:function-entry { @ = count(); }' || finish
at kmay_a '[lists:zip3([], [], []) || _ <- lists:seq(1, 321)], ok.' >/dev/null
untrace
has 'a script inside a node' '^ +321$'
erltrace -N kmay_a -qn 'erlang*:::process-spawn { n++; } syscall::read:entry { n++; }' >o 2>&1
is 'one of both worlds: exit code' 1 $?
has 'one of both worlds: says what is missing' 'need root, or the capabilities CAP_BPF'
finish
