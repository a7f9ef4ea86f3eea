#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The tests of kernel probes under other kernels than this machine's, in virtual machines
# (tools/kernel-vm.sh), and a table of what works where, which it writes into doc/kernel.md.
#
#	tools/test-kernel-vm.sh [KERNEL...]   bookworm (Linux 6.1), trixie (6.12), here (this machine,
#	                                      without a virtual one); default: bookworm trixie
#	tools/test-kernel-vm.sh table         only the table, from what was run last
#
# It runs every test/kernel/*.sh, but those whose head has a line "# Not in a virtual machine: why".
# TESTS='sched pid' runs only these; what the others have printed is kept, in build/kernel-vm/KERNEL.
# The machines' disk is made of packages of this machine's release, once, and the tree as it is built.
# Without KVM a kernel takes an hour or two. As root.
#
# The last line is "N passed, N failed".

set -u
cd "$(dirname "$0")/.." || exit 1
build=${BUILD:-build}
keep=${KERNEL_VM:-/var/tmp/erltrace-vm}
root=$keep/root
doc=${DOC:-doc/kernel.md}
kernels=(bookworm trixie here)
packages=bash,procps,erlang-base,erlang-dev,gcc,libc6-dev,make,iproute2,python3-minimal,binutils,systemtap-sdt-dev
packages+=,strace,util-linux,libcap2-bin,libwebsockets17,libjansson4,libssl3

# Their names, in the order of the alphabet.
tests_there_are()
{
	local file
	for file in test/kernel/*.sh; do
		grep -q '^# Not in a virtual machine: ' "$file" || basename "$file" .sh
	done
}

# ---- running --------------------------------------------------------------------------------

needs()
{
	local need
	((EUID == 0)) || { echo 'test-kernel-vm: needs root' >&2; return 1; }
	for need in qemu-system-x86_64:qemu-system-x86 debootstrap:debootstrap mke2fs:e2fsprogs cpio:cpio xz:xz-utils; do
		command -v "${need%:*}" >/dev/null ||
			{ echo "test-kernel-vm: needs ${need%:*} (Debian: ${need#*:})" >&2; return 1; }
	done
}

make_root()
{
	local suite
	# shellcheck source=/dev/null
	suite=$(. /etc/os-release && echo "${VERSION_CODENAME:-bookworm}")

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

# The tests one after the other: what each prints into a file of OUT.
cat_runner()
{
	cat <<-'END'
		cd "$TREE" || exit 1
		export BUILD=${BUILD:-build} BIN=${BIN:-bin} CC=${CC:-gcc} LC_ALL=C.UTF-8
		uname -r >"$OUT/kernel"
		for t; do
			timeout 3000 "test/kernel/$t.sh" >"$OUT/$t.log" 2>&1 </dev/null
			echo "$t: $(tail -n 1 "$OUT/$t.log")"
		done
	END
}

in_machine() # KERNEL, TEST...
{
	local kernel=$1
	shift
	needs && make_root && copy_tree || return 1
	cat_runner >"$root/root/run"
	tools/kernel-vm.sh -k "$kernel" -m 3000 -t "${SECONDS_MOST:-9000}" "$root" \
		env TREE=/erltrace OUT=/out bash /root/run "$@" 2>&1
	cp -r "$root/out/." "$build/kernel-vm/$kernel"
}

here() # TEST...
{
	TREE=$PWD OUT=$(realpath "$build/kernel-vm/here") bash <(cat_runner) "$@"
}

run() # KERNEL
{
	local line some
	mkdir -p "$build/kernel-vm/$1"
	read -ra some <<<"${TESTS:-$(tests_there_are | tr '\n' ' ')}"
	(cd "$build/kernel-vm/$1" && rm -f "${some[@]/%/.log}")
	echo "$1:"
	while IFS= read -r line; do
		echo "  $line"
		if [[ $line =~ ^([a-z_]+):\ ([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
			passed=$((passed + BASH_REMATCH[2])) failed=$((failed + BASH_REMATCH[3]))
		else
			failed=$((failed + 1))
		fi
	done < <(if [[ $1 == here ]]; then here "${some[@]}"; else in_machine "$1" "${some[@]}"; fi)
}

# ---- the table --------------------------------------------------------------------------------

# What a test shows: the first sentence of its head.
shows() # TEST
{
	awk 'NR > 3 && !/^#/ { exit } NR > 3 { sub(/^# ?/, ""); if ($0 == "") exit; text = text " " $0 }
		END { sub(/^ /, "", text); if (match(text, /[.:](  *|$)/)) text = substr(text, 1, RSTART - 1)
			gsub(/\|/, "\\|", text); print text }' "test/kernel/$1.sh"
}

cell() # KERNEL, TEST
{
	local log=$build/kernel-vm/$1/$2.log
	if [[ ! -s $log ]]; then
		echo 'not run'
	elif [[ $(tail -n 1 "$log") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
		if ((BASH_REMATCH[1] + BASH_REMATCH[2] == 0)); then
			echo skipped
		elif ((BASH_REMATCH[2] == 0)); then
			echo "${BASH_REMATCH[1]}"
		else
			echo "${BASH_REMATCH[1]}, **${BASH_REMATCH[2]} failed**"
		fi
	else
		echo '**no result**'
	fi
}

table()
{
	local kernel t names='' line=''
	for kernel in "${kernels[@]}"; do
		names+=" | $(sed 's/^\([0-9]*\.[0-9]*\).*/Linux \1/' "$build/kernel-vm/$kernel/kernel" 2>/dev/null || echo "$kernel")"
		line+=' | ---'
	done
	echo "| test | what it shows$names |"
	echo "| --- | ---$line |"
	for t in $(tests_there_are); do
		line="| \`$t\` | $(shows "$t")"
		for kernel in "${kernels[@]}"; do line+=" | $(cell "$kernel" "$t")"; done
		echo "$line |"
	done
}

# Between the two marks of the document.
write_table()
{
	TABLE=$(table) awk '/^<!-- kernels: / { print; print ""; print ENVIRON["TABLE"]; print ""; skip = 1 }
		/^<!-- end -->/ { skip = 0 } !skip' "$doc" >"$doc.new" && cat "$doc.new" >"$doc"
	rm -f "$doc.new"
}

passed=0 failed=0
mkdir -p "$build/kernel-vm"
[[ ${1-} == table ]] && { write_table; exit; }
(($# > 0)) || set -- bookworm trixie
for kernel; do run "$kernel"; done
write_table
echo "$passed passed, $failed failed"
((failed == 0))
