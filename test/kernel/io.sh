#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The provider io: as many requests to a disk of its own (a loop device) as a program makes, their
# bytes, blocks and directions, whole disk and partition, the file that they are for, who waits.
# BIN: where the command is. The last line is "N passed, N failed"; where the kernel does not let us,
# or has no loop devices, all is skipped, which is said.

# shellcheck disable=SC2016 # $target is D's
# shellcheck source=test/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
export LC_ALL=C
cd "$tmp" || exit 1
disk=
trap 'cd /; [ -n "$disk" ] && { umount "$tmp/mnt" 2>/dev/null; losetup -d "$disk"; }; rm -rf "$tmp"' EXIT

if ! why=$(timeout 60 erltrace -qn 'io:::start, io:::done { } BEGIN { exit(0); }' 2>&1 >/dev/null); then
	echo "skipped: no probes of the kernel here: $why"
	echo '0 passed, 0 failed'
	exit 0
fi
cat >disk.c <<'END'
/* disk DEVICE r|w N: N requests of 4096 bytes, one after the other, past the page cache. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int how = argc > 3 && *argv[2] == 'r' ? O_RDONLY : O_RDWR;
	int fd = argc > 3 ? open(argv[1], how | O_DIRECT) : -1, n = argc > 3 ? atoi(argv[3]) : 0;
	char *page = aligned_alloc(4096, 4096);

	if (fd < 0 || page == NULL)
		return 1;
	getppid();
	for (int i = 0; i < n; i++) {
		off_t at = 4096L * (i % 4096);

		if ((*argv[2] == 'r' ? pread(fd, page, 4096, at) : pwrite(fd, page, 4096, at)) != 4096)
			return 2;
	}
	getppid();
	return 0;
}
END
${CC:-cc} -O1 -o disk disk.c || exit 1

# t SCRIPT COMMAND: what the script prints, in one line, and sorted
t() { timeout 300 erltrace -qn "$1" -c "$2" 2>&1 | sort | words; }

# exact NAME WANTED SCRIPT COMMAND. While other disks are busy, Linux 6.18 now and then ends a request
# without its tracepoints: no program at them sees it, ours or others. Then the next try does.
exact() {
	local got
	for _ in 1 2 3 4 5 6; do
		got=$(t "$3" "$4")
		[ "$got" = "$2" ] && break
	done
	if [ "$got" != "$2" ] && near "$2" "$got"; then
		echo "info: $1: the kernel ended some without its tracepoints: $got"
		got=$2
	fi
	is "$1" "$2" "$got"
}

# near WANTED GOT: the same, but that one in a thousand ends may lack
near() {
	awk -v wanted="$1" -v got="$2" 'BEGIN {
		n = split(wanted, w, " ")
		if (split(got, g, " ") != n)
			exit 1
		for (i = 1; i <= n; i++) {
			ends = w[i] == "done" || (ends && w[i] != "start")
			if (w[i] != g[i] && !(ends && g[i] <= w[i] && (w[i] - g[i]) * 1000 <= w[i]))
				exit 1
		}
	}'
}

# ---- a disk that others use, too: the requests that the program makes

for real in $(cd /sys/block && ls -d [svx]d[a-z] nvme* mmcblk? 2>/dev/null); do
	[ "$(cat "/sys/block/$real/size")" -gt 65536 ] && ./disk "/dev/$real" r 1 && break
	real=
done
# Its reads, past the page cache. Who sends them to the driver depends on the kernel.
own='
syscall::getppid:entry /pid == $target/ { part++; }
io:::start
/part == 1 && args[0]->b_flags == (B_READ | B_PHYS) && args[1]->dev_name == "'${real:-}'"/
{
	mine[args[0]->b_addr] = 1;
	@["start", args[0]->b_bcount] = count();
}
io:::done /mine[args[0]->b_addr]/ { mine[args[0]->b_addr] = 0; @["done", args[0]->b_bcount] = count(); }
END { printa("%s %d: %@d\n", @); }'
if [ -n "${real:-}" ]; then
	exact "10,000 requests to $real" 'done 4096: 10000 start 4096: 10000' "$own" "./disk /dev/$real r 10000"
else
	echo 'skipped: no disk here that can be read'
fi

# ---- a disk of its own: all requests

truncate -s 64M image
if ! disk=$(losetup -f --show image 2>o); then
	disk=
	echo "skipped: no loop device here: $(cat o)"
	finish
	exit
fi
name=${disk#/dev/}

counts='
io:::start, io:::done /args[1]->dev_statname == "'$name'"/
{
	@n[probename, args[0]->b_flags & (B_READ | B_WRITE | B_PHYS | B_PAGEIO), args[0]->b_bcount,
	    args[0]->b_resid, args[0]->b_error] = count();
	@b[probename] = sum(args[0]->b_bcount);
}
END { printa("%s %d bytes %d left %d error %d: %@d\n", @n); printa("%s %@d\n", @b); }'
exact '100,000 requests that read, and their bytes' "done 409600000 done 96 bytes 4096 left 0 error 0: 100000$(
	) start 409600000 start 96 bytes 4096 left 4096 error 0: 100000" "$counts" "./disk $disk r 100000"
exact '10,000 requests that write, and their bytes' "done 288 bytes 4096 left 0 error 0: 10000 done 40960000$(
	) start 288 bytes 4096 left 4096 error 0: 10000 start 40960000" "$counts" "./disk $disk w 10000"

numbers='
io:::start /args[1]->dev_statname == "'$name'"/
{
	printf("%d %s %s %s %d,%d %d %s %s\n", args[0]->b_blkno, args[1]->dev_name,
	    args[1]->dev_statname, args[1]->dev_pathname, args[1]->dev_major, args[1]->dev_minor,
	    pid == $target, execname, args[2]->fi_name);
}'
dev=$(stat -c '%t %T' "$disk" | { read -r a b; echo "$((0x$a)),$((0x$b))"; })
is 'where on which disk, and who asks' \
	"0 $name $name $disk $dev 1 disk <unknown> 16 $name $name $disk $dev 1 disk <unknown> 8 $name $name $disk $dev 1 disk <unknown>" \
	"$(t "$numbers" "./disk $disk r 3")"

pairs='
io:::start /args[1]->dev_statname == "'$name'"/ { at[arg0 != 0 ? args[0]->b_addr : 0] = timestamp; }
io:::done /args[1]->dev_statname == "'$name'" && at[args[0]->b_addr]/
{
	@["took time"] = sum(timestamp > at[args[0]->b_addr]);
	at[args[0]->b_addr] = 0;
}
END { printa("%s %@d\n", @); }'
exact 'b_addr is the same at start and done' 'took time 1000' "$pairs" "./disk $disk r 1000"

waits='
self int waits;
io:::wait-start /pid == $target/ { @[probename, self->waits] = count(); self->waits++; }
io:::wait-done /pid == $target/ { self->waits--; @[probename, self->waits] = count(); }
END { printa("%s %d %@d\n", @); }'
t "$waits" "./disk $disk r 1000" >o
like 'a thread waits, and then waits no more' '^wait-done 0 ([0-9]+) wait-start 0 ([0-9]+)$' "$(cat o)"
ok 'as often as it waits' test "$(awk '{ print $3 }' o)" = "$(awk '{ print $6 }' o)"

# a file system on it: which file a request is for
if mkfs.ext4 -q "$disk" 2>/dev/null && mkdir mnt && mount "$disk" mnt 2>/dev/null; then
	files='
io:::start /args[1]->dev_statname == "'$name'" && args[2]->fi_name == "file"/
{
	@[args[2]->fi_pathname, args[2]->fi_dirname, args[2]->fi_mount, args[2]->fi_fs,
	    args[0]->b_flags & (B_READ | B_WRITE | B_PAGEIO)] = sum(args[0]->b_bcount);
	@o = max(args[2]->fi_offset + args[0]->b_bcount);
}
END { printa("%s %s %s %s %d %@d\n", @); printa("to %@d\n", @o); }'
	mkdir mnt/dir
	is 'the file that pages are written of' "$tmp/mnt/dir/file $tmp/mnt/dir $tmp/mnt ext4 272 1048576 to 1048576" \
		"$(t "$files" "dd if=/dev/zero of=mnt/dir/file bs=64k count=16 conv=fsync status=none")"
	umount mnt && mount "$disk" mnt # out of the page cache
	is 'the file that pages are read of' "$tmp/mnt/dir/file $tmp/mnt/dir $tmp/mnt ext4 80 1048576 to 1048576" \
		"$(t "$files" "dd if=mnt/dir/file of=/dev/null bs=64k status=none")"
	ends='
io:::start, io:::done /args[1]->dev_statname == "'$name'"/ { @[probename] = count(); }
END { printa("%@d\n", @); }'
	for _ in 1 2 3; do
		got=$(t "$ends" "sh -c 'for i in 1 2 3 4 5; do echo \$i >mnt/x; sync mnt/x; done'" |
			tr ' ' '\n' | sort -u | wc -l)
		[ "$got" = 1 ] && break
	done
	is 'every request that has begun has an end, flushes too' 1 "$got"
else
	echo 'skipped: no file system of its own: mkfs.ext4 or mount is not permitted'
fi

finish
