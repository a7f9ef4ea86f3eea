#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs a command as root under the kernel of another Debian release, in qemu. KVM is not needed, and not
# asked for: where it is nested it may lack instructions that these kernels use (KERNEL_VM_ACCEL=kvm).
#
#	tools/kernel-vm.sh [-k bookworm|trixie] [-m MB] [-c CPUS] [-t SECONDS] ROOT COMMAND...
#
# bookworm has Linux 6.1 (no BPF arena), trixie 6.12. ROOT is a folder with a Debian system in it; the
# machine's disk is a copy of it, so what the command changes is lost, but for the folder /out: the
# files that it leaves there are in ROOT/out after. What the command prints comes out here, and the
# exit status is the command's; 125: the machine did not start or did not end. There is no network.
#
# Kernels are kept in $KERNEL_VM (default /var/tmp/erltrace-vm). Needs root, qemu-system-x86, e2fsprogs,
# cpio and xz-utils.

set -euo pipefail
suite=bookworm mb=2000 cpus=2 secs=600
while getopts k:m:c:t: o; do
	case $o in
	k) suite=$OPTARG ;;
	m) mb=$OPTARG ;;
	c) cpus=$OPTARG ;;
	t) secs=$OPTARG ;;
	*) exit 2 ;;
	esac
done
shift $((OPTIND - 1))
(($# > 1)) || { echo 'usage: kernel-vm.sh [-k SUITE] [-m MB] [-c CPUS] [-t SECONDS] ROOT COMMAND...' >&2; exit 2; }
root=$(cd "$1" && pwd)
shift
keep=${KERNEL_VM:-/var/tmp/erltrace-vm}/kernel-$suite
mkdir -p "$keep"
work=$(mktemp -d /var/tmp/erltrace-vm.XXXXXX)
trap 'rm -rf "$work"' EXIT

# The release's own package lists, apart from those of this machine.
debian_mirror()
{
	{ cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null || true; } |
		awk '($1 == "URIs:" && $2 ~ /\/debian\/?$/) { print $2; exit }
			$1 == "deb" { for (i = 2; i <= NF; i++) if ($i ~ /\/debian\/?$/) { print $i; exit } }'
}

fetch_kernel()
{
	local mirror=${DEBIAN_MIRROR:-$(debian_mirror)} apt=() image
	mkdir -p lists/partial cache/archives/partial
	echo "deb [trusted=yes arch=amd64] ${mirror:-http://deb.debian.org/debian} $suite main" >sources
	apt=(-o "Dir::Etc::sourcelist=$PWD/sources" -o Dir::Etc::sourceparts=- -o "Dir::State::lists=$PWD/lists"
		-o "Dir::Cache=$PWD/cache" -o APT::Sandbox::User=root)
	apt-get "${apt[@]}" -qq update >&2
	image=$(apt-cache "${apt[@]}" depends linux-image-cloud-amd64 |
		sed -n 's/.*Depends: \(linux-image-[0-9].*\)/\1/p' | head -n 1)
	apt-get "${apt[@]}" -qq download "$image" busybox-static >&2
	dpkg -x "$image"_*.deb kernel
	dpkg -x busybox-static_*.deb busybox
	rm -rf ./*.deb lists cache
}

# The first system of the machine: busybox, and the modules that a disk needs.
make_initrd()
{
	local name file n=10 disk=(virtio virtio_ring virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci
		virtio_blk crc16 crc32c_generic crc32c-intel crc32c_intel libcrc32c mbcache jbd2 ext4)
	rm -rf init && mkdir -p init/{bin,proc,sys,dev,new,modules}
	cp "$(find busybox -path "*/bin/busybox" | head -n 1)" init/bin/
	for name in sh mount insmod switch_root sleep poweroff; do ln -s busybox "init/bin/$name"; done
	for name in "${disk[@]}"; do
		file=$(find kernel -name "$name.ko*" | head -n 1)
		n=$((n + 1))
		case $file in
		*.xz) xz -dc "$file" >init/modules/$n.ko ;;
		?*) cp "$file" init/modules/$n.ko ;;
		esac
	done
	cat >init/init <<-'END'
		#!/bin/sh
		mount -t proc proc /proc
		mount -t sysfs sys /sys
		mount -t devtmpfs dev /dev
		for m in /modules/*.ko; do insmod $m; done 2>/dev/null
		for i in 1 2 3 4 5 6 7 8 9; do [ -b /dev/vda ] && break; sleep 0.2; done
		mount -t ext4 /dev/vda /new || poweroff -f
		for d in proc sys dev; do mount --move /$d /new/$d; done
		exec switch_root /new /.kernel-vm
	END
	chmod +x init/init
	(cd init && find . | cpio -o -H newc --quiet | gzip -1) >initrd.new
	mv initrd.new initrd
}

cd "$keep"
[[ -f initrd ]] || { fetch_kernel && make_initrd; }
kernel=$(find "$keep/kernel/boot" -name 'vmlinuz-*' | head -n 1)
out=$root/out
rm -rf "$out" && mkdir "$out"
cat >"$root/.kernel-vm" <<END
#!/bin/bash
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 TERM=dumb
mkdir -p /dev/shm /dev/pts
ln -sfn /proc/self/fd /dev/fd
mount -t tmpfs tmp /tmp; mount -t tmpfs run /run; mount -t devpts pts /dev/pts; mount -t tmpfs shm /dev/shm
mount -t tracefs trace /sys/kernel/tracing; mount -t debugfs debug /sys/kernel/debug
mount -t bpf bpf /sys/fs/bpf; mount -t cgroup2 cgroup /sys/fs/cgroup
ip link set lo up; hostname vm; cd /root
echo '@@begin'
$(printf '%q ' "$@") </dev/null 2>&1
echo "@@end \$?"
tar -C /out -cf /dev/vdb . 2>/dev/null
sync; echo o >/proc/sysrq-trigger; sleep 9
END
chmod +x "$root/.kernel-vm"
size=$(($(du -sm --exclude=proc --exclude=sys "$root" | cut -f1) * 13 / 10 + 300))
mke2fs -q -F -t ext4 -O ^has_journal -d "$root" "$work/disk" "${size}M" >/dev/null 2>&1
truncate -s 64M "$work/out"
timeout "$secs" nice -n 5 qemu-system-x86_64 -M q35 -accel "${KERNEL_VM_ACCEL:-tcg}" -cpu max -smp "$cpus" -m "$mb" -nographic \
	-no-reboot -nic none -kernel "$kernel" -initrd "$keep/initrd" \
	-drive file="$work/disk",if=virtio,format=raw -drive file="$work/out",if=virtio,format=raw \
	-append 'console=ttyS0 quiet panic=-1' </dev/null 2>&1 | sed -u 's/\r//g' | tee "$work/log" |
	sed -un '/@@begin/,/@@end/ { /@@begin/d; /@@end/d; p }' || true
rc=$(sed -n 's/.*@@end \([0-9]*\).*/\1/p' "$work/log" | head -n 1)
if [[ -z $rc ]]; then
	echo 'kernel-vm: the machine did not end by itself; its last lines:' >&2
	tail -n 20 "$work/log" >&2
	exit 125
fi
tar -C "$out" -xf "$work/out" 2>/dev/null || true
exit "$rc"
