#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Functions of the kernel (fbt): exact counts of entries and returns against what a program does, by
# a program for each function and by one for many; arguments and results with their types, stacks,
# lists, bounds, and what the kernel leaves out. The last line is "N passed, N failed"; where the
# kernel cannot trace its functions, only the error that says so is tested.
#
# CALLS=N: how many calls are counted (default 1000000).

# shellcheck disable=SC2016 # $target is D's
# shellcheck source=test/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
export LC_ALL=C
cd "$tmp" || exit 1
trap 'cd / && rm -rf "$tmp"' EXIT
calls=${CALLS:-1000000}

# t PROGRAM COMMAND: what the script prints of it, in one line
t() { timeout 300 erltrace -qn "$1" -c "$2" 2>&1 | words; }
# e SCRIPT: its error
e() { timeout 300 erltrace -xerrtags -qn "$1" 2>&1; }

erltrace -ln syscall::read:entry >/dev/null 2>&1 || { echo 'skipped: built without the kernel engine'; echo '0 passed, 0 failed'; exit 0; }
if ! timeout 60 erltrace -qn 'BEGIN { exit(0); } syscall:::entry { }' >/dev/null 2>&1; then
	echo 'skipped: no probes of the kernel here'
	echo '0 passed, 0 failed'
	exit 0
fi
if ! timeout 60 erltrace -ln fbt::vfs_read:entry >/dev/null 2>&1; then
	for d in fbt::vfs_read:entry 'fbt::vfs_*:' fbt:::; do
		like "where functions cannot be traced: $d says what is missing" \
			'matche?s? .*this kernel lets nobody trace its functions: .*CONFIG_KPROBE_EVENTS' \
			"$(e "$d { n++; } BEGIN { exit(0); }")"
	done
	echo 'skipped: this kernel lets nobody trace its functions'
	finish
fi

cat >demo.c <<'END'
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int n = argc > 2 ? atoi(argv[2]) : 0, fd = open("/dev/zero", O_RDONLY);
	char buf[77];

	if (!strcmp(argv[1], "calls"))
		while (n-- > 0)
			syscall(SYS_getppid);
	if (!strcmp(argv[1], "read"))
		while (n-- > 0)
			if (read(fd, buf, sizeof(buf)) != (ssize_t)sizeof(buf))
				return 1;
	if (!strcmp(argv[1], "missing") && syscall(SYS_getppid) != 0)
		while (n-- > 0)
			open("/no/such/file", O_RDONLY);
	return 0;
}
END
${CC:-cc} -O1 -o demo demo.c || exit 1
me=$tmp/demo
getppid=fbt::__x64_sys_getppid
read=fbt::vfs_read
mine='/pid == $target && arg2 == 77/'

# ---- lists -------------------------------------------------------------------------------------
is 'a function has an entry and a return' 'fbt vmlinux vfs_read entry fbt vmlinux vfs_read return' \
	"$(erltrace -ln $read: | awk 'NR > 1 { print $2, $3, $4, $5 }' | words)"
like 'arguments have the types of the prototype' 'args\[0\]: struct file \*.*args\[2\]: size_t.*args\[1\]: ssize_t' \
	"$(erltrace -lvn $read: | words)"
erltrace -ln fbt:::entry >o
ok 'there are thousands' test "$(wc -l <o)" -gt 5000
is 'functions of one name are one probe' '' "$(awk '{ print $3, $4 }' o | sort | uniq -d | head)"
is 'what must not be traced is not in the list' '' "$(grep -wE '__pfx_.*|asm_exc_page_fault|error_entry' o)"
list=/sys/kernel/tracing/available_filter_functions
if [ -s $list ]; then
	awk '{ print $1 }' $list | sort -u >traced
	awk 'NR > 1 { print $4 }' o | sort -u >listed
	# a system call goes by its name for this architecture
	is 'what ftrace does not trace is not in the list' '' "$(comm -13 traced listed | grep -v '^__x64_' | head)"
fi
is 'a list without a provider has none of them' 0 "$(erltrace -l | grep -c ' fbt ')"
like 'a function that is not there' 'no function of this name' "$(e 'fbt::no_such_function:entry { }')"
like 'a glob that matches none' 'no function .* is called so' "$(e 'fbt::no_such_*:entry { }')"
like 'a name that is none' 'have entry and return' "$(e 'fbt::vfs_read:exit { }')"

# ---- exact counts ------------------------------------------------------------------------------
is 'each call fires its entry and its return' "$calls $calls" "$(t "
	$getppid:entry /pid == \$target/ { n++; }
	$getppid:return /pid == \$target/ { m++; }
	END { printf(\"%d %d\n\", n, m); }" "$me calls $calls")"
is 'the same where one program is at many functions' "$((calls / 10)) $((calls / 10))" "$(t "
	fbt::vfs_*:entry /probefunc == \"vfs_read\" && pid == \$target && arg2 == 77/ { n++; self->in = 1; }
	fbt::vfs_*:return /probefunc == \"vfs_read\" && self->in/ { m++; self->in = 0; }
	END { printf(\"%d %d\n\", n, m); }" "$me read $((calls / 10))")"
is 'two commands at the same function' '1000 1000' "$(
	timeout 300 erltrace -qn "$read:entry $mine { n++; } END { printf(\"%d\n\", n); }" -c "$me read 1000" >first &
	t "$read:entry $mine { n++; } END { printf(\"%d\n\", n); }" "$me read 1000"
	wait $!
	echo " $(words <first)")"
is 'entries and returns of many functions are as many' equal "$(t '
	fbt::vfs_*:entry /pid == $target/ { @n[probefunc] = sum(1); }
	fbt::vfs_*:return /pid == $target/ { @n[probefunc] = sum(-1); }
	END { printa("%s %@d\n", @n); }' "$me read 100" | awk '
	{ for (i = 2; i <= NF; i += 2) if ($i != 0) bad = 1 }
	END { print bad || NF == 0 ? "not: " $0 : "equal" }')"

# ---- arguments, results ------------------------------------------------------------------------
is 'args[] are typed, and lead on' 'zero 77 50' "$(t "
	$read:entry $mine { @[stringof(args[0]->f_path.dentry->d_name.name), args[2]] = count(); }
	END { printa(\"%s %d %@d\n\", @); }" "$me read 50")"
is 'a return has the value' '0 77 77 50' "$(t "
	$read:return /pid == \$target && arg1 == 77/ { @[arg0, arg1, args[1]] = count(); }
	END { printa(\"%d %d %d %@d\n\", @); }" "$me read 50")"
is 'the value of a system call' 50 "$(t "
	$getppid:return /pid == \$target && arg1 == ppid/ { n++; } END { printf(\"%d\n\", n); }" "$me calls 50")"
is 'an error is a negative result' '-2 50' "$(t "
	$getppid:entry /pid == \$target/ { self->mine = 1; }
	fbt::do_sys_openat2:return /self->mine/ { @[args[1]] = count(); }
	END { printa(\"%d %@d\n\", @); }" "$me missing 50")"
is 'arguments where one program is at many functions' 'zero 77 50' "$(t "
	fbt::vfs_*:entry /probefunc == \"vfs_read\" && pid == \$target && arg2 == 77/
	{ @[stringof(((struct file *)arg0)->f_path.dentry->d_name.name), arg2] = count(); }
	END { printa(\"%s %d %@d\n\", @); }" "$me read 50")"

# More arguments than a trampoline has room for, on some kernels: a kprobe, one.
many=fbt::get_perf_callchain
if erltrace -ln $many:entry >/dev/null 2>&1; then
	is 'a function of many arguments fires once a call' 1 "$(t "
		$many:entry { n++; } $many:return { m++; }
		syscall::getppid:entry /pid == \$target/ { @[stack(1)] = count(); }
		END { trunc(@); printf(\"%d\n\", n == m && n > 0 && n <= 2 * 100); }" "$me calls 100" | grep -o '[01]$')"
fi

# ---- stacks ------------------------------------------------------------------------------------
begins='^ *vmlinux`vfs_read vmlinux`(ksys_read|__x64_sys_read)\+0x[0-9a-f]+ '
like 'stack() at an entry: the function, its caller' "$begins" \
	"$(t "$read:entry $mine { stack(3); exit(0); }" "$me read 5")"
like 'stack() at a return: the same' "$begins" \
	"$(t "$read:return /pid == \$target && arg1 == 77/ { stack(3); exit(0); }" "$me read 5")"
for way in entry return; do
	like "stack() at an $way, one program for many" "$begins" "$(t "
		fbt::vfs_*:$way /probefunc == \"vfs_read\" && pid == \$target && (arg2 == 77 || arg1 == 77)/
		{ stack(3); exit(0); }" "$me read 5")"
done
like 'caller' '^vmlinux`(ksys_read|__x64_sys_read)$' \
	"$(t "$read:entry $mine { printf(\"%a\", caller); exit(0); }" "$me read 5" | sed 's/+0x.*//')"
like 'ustack()' 'read' "$(t "$read:entry $mine { @[ustack(1)] = count(); }" "$me read 5")"

# ---- what the kernel leaves out ----------------------------------------------------------------
# Clauses that read memory of the kernel call the function that does, which cannot be traced from there.
if erltrace -ln fbt::copy_from_kernel_nofault:entry >/dev/null 2>&1; then
	said=$(t 'syscall::getppid:entry /pid == $target/ { @ = sum(curthread->tgid == 0); }
		fbt::copy_from_kernel_nofault:entry { n++; @ = sum(curthread->tgid == 0); }
		END { trunc(@); printf("fired %d\n", n > 0); }' "$me calls 100")
	like 'a function that tracing itself calls fires' 'fired 1' "$said"
	like 'what the kernel leaves out are drops' '[0-9]+ firings? left out by the kernel' "$said"
fi
is 'functions that everybody calls, from interrupts too, hang nothing' '0 1' "$(
	timeout 200 erltrace -qn 'fbt::_raw_spin_*:entry, fbt::rcu_*:entry, fbt::perf_*:entry, fbt::bpf_prog_*:entry,
		fbt::ktime_get*:entry, fbt::update_*:entry { @[probefunc, stack(5)] = count(); n++; }
		tick-2s { exit(0); } END { trunc(@); printf("%d\n", n > 0); }' >o 2>e
	echo "$? $(words <o)")"

# ---- bounds, and the end -----------------------------------------------------------------------
like 'all functions are too many' 'more than 5000 functions of the kernel' "$(e 'fbt:::entry { n++; } BEGIN { exit(0); }')"
many='fbt::ext4_*:entry, fbt::tcp_*:entry, fbt::ip*:entry, fbt::[x-z]*:entry'
like 'thousands of functions; or the error says how many there may be' '^( 0|.*at most 1000 1)$' "$(
	timeout 300 erltrace -qn "$many { n++; } tick-1s { exit(0); }" >o 2>e
	rc=$?
	echo "$(words <e) $rc")"
if [ -r /sys/kernel/tracing/enabled_functions ]; then
	is 'nothing is left behind' '' "$(head -n 3 /sys/kernel/tracing/enabled_functions)"
fi
finish
