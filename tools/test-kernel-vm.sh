#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The tests of kernel probes under other kernels than this machine's, in virtual machines
# (tools/kernel-vm.sh), and a table of what works where.
#
#	tools/test-kernel-vm.sh [KERNEL...]        bookworm (Linux 6.1), trixie (6.12); default: both
#
# TESTS='sched pid' runs only these of test/kernel/ (golden: the golden tests in the kernel). All that
# they print is in build/kernel-vm/. The machines' disk is made of packages of this machine's release,
# once, and the tree as it is built. Without KVM it takes about an hour. As root.
#
# The last line is "N passed, N failed".

set -u
cd "$(dirname "$0")/.." || exit 1
build=${BUILD:-build}
keep=${KERNEL_VM:-/var/tmp/erltrace-vm}
root=$keep/root
all=(kernel_test sched rawtp io fsinfo net sysinfo fbt pid usdt libs files unwind classics kernel_errors kernel_hostile older golden)
packages=bash,procps,erlang-base,erlang-dev,gcc,libc6-dev,make,iproute2,python3-minimal,binutils,systemtap-sdt-dev
packages+=,strace,util-linux,libwebsockets17,libjansson4,libssl3

((EUID == 0)) || { echo 'test-kernel-vm: needs root' >&2; exit 1; }
for need in qemu-system-x86_64:qemu-system-x86 debootstrap:debootstrap mke2fs:e2fsprogs cpio:cpio xz:xz-utils; do
	command -v "${need%:*}" >/dev/null || { echo "test-kernel-vm: needs ${need%:*} (Debian: ${need#*:})" >&2; exit 1; }
done

make_root()
{
	# shellcheck source=/dev/null
	local suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-bookworm}")

	[[ -f $root/.made ]] && return
	rm -rf --one-file-system "$root"
	mkdir -p "$keep"
	debootstrap --variant=minbase --include="$packages" "$suite" "$root" "${DEBIAN_MIRROR:-http://deb.debian.org/debian}" \
		>"$keep/root.log" 2>&1 || { tail -n 3 "$keep/root.log" >&2; return 1; }
	touch "$root/.made"
}

# The tree without what only building it needs.
copy_tree()
{
	rm -rf "$root/erltrace" && mkdir "$root/erltrace" &&
		tar -cf - --exclude=./.git --exclude='*.o' --exclude=node_modules . | tar -xf - -C "$root/erltrace"
}

# In the machine: the tests one after the other.
cat_runner()
{
	cat <<-'END'
		cd /erltrace || exit 1
		export BUILD=build BIN=bin CC=gcc LC_ALL=C.UTF-8
		for t; do
			case $t in
			golden) set -- test/kernel/kernel_golden.sh ;;
			*) set -- "test/kernel/$t.sh" ;;
			esac
			timeout 3000 "$@" >"/out/$t.log" 2>&1
			echo "$t: $(tail -n 1 "/out/$t.log")"
		done
	END
}

make_root && copy_tree || exit 1
cat_runner >"$root/root/run"
read -ra tests <<<"${TESTS:-${all[*]}}"
kernels=("$@")
(($# > 0)) || kernels=(bookworm trixie)
passed=0 failed=0
for kernel in "${kernels[@]}"; do
	logs=$build/kernel-vm/$kernel
	rm -rf "$logs" && mkdir -p "$logs"
	echo "$kernel:"
	while IFS= read -r line; do
		echo "  $line"
		if [[ $line =~ ^([a-z_]+):\ ([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
			passed=$((passed + BASH_REMATCH[2])) failed=$((failed + BASH_REMATCH[3]))
		else
			failed=$((failed + 1))
		fi
	done < <(tools/kernel-vm.sh -k "$kernel" -m 3000 -t 9000 "$root" bash /root/run "${tests[@]}" 2>&1)
	cp -r "$root/out/." "$logs"
done
echo "$passed passed, $failed failed"
((failed == 0))
