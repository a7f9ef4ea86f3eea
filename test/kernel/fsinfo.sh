#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The provider fsinfo, on a program that does each thing with files a known number of times: counts,
# bytes, and the paths, whichever way the program names a file. BIN: where the command is. The last
# line is "N passed, N failed"; where the kernel does not let us, all is skipped, which is said.

# shellcheck disable=SC2016 # $target is D's
# shellcheck source=test/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
export LC_ALL=C
cd "$tmp" || exit 1
trap 'cd / && rm -rf "$tmp"' EXIT

if ! why=$(timeout 60 erltrace -qn 'fsinfo:::read { } BEGIN { exit(0); }' 2>&1 >/dev/null); then
	echo "skipped: no probes of the kernel here: $why"
	echo '0 passed, 0 failed'
	exit 0
fi

cat >files.c <<'END'
/* files count N: reads and writes; files names DIR: every operation once, by a name of each kind. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static char text[8192];

static void begin(void)
{
	getppid();
}
static void count(int n)
{
	int fd = open("counted", O_RDWR | O_CREAT | O_TRUNC, 0600), none = open("counted", O_WRONLY);
	struct iovec two[2] = {{text, 1000}, {text + 1000, 24}};

	begin();
	for (int i = 0; i < n; i++) {
		if (write(fd, text, 100) != 100 || pwrite(fd, text, 1024, 0) != 1024 ||
			writev(fd, two, 2) != 1024 || pread(fd, text, 1024, 0) != 1024 ||
			lseek(fd, 0, SEEK_SET) != 0 || read(fd, text, 100) != 100 ||
			readv(fd, two, 2) < 0 || read(none, text, 1) >= 0)
			exit(1);
		lseek(fd, 0, SEEK_SET);
	}
	begin();
	for (int i = 0; i < n; i++)
		close(open("counted", O_RDONLY));
}
static void names(const char *dir)
{
	int d = open(dir, O_RDONLY | O_DIRECTORY), fd;
	char to[100];
	struct stat st;

	chdir(dir);
	begin();
	mkdir("relative", 0700);
	mkdirat(d, "at", 0700);
	rmdir("relative");
	unlinkat(d, "at", AT_REMOVEDIR);
	fd = openat(d, "file", O_RDWR | O_CREAT, 0600);
	ftruncate(fd, 4096);
	mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	fchmod(fd, 0640);
	fsync(fd);
	ioctl(fd, FIOCLEX);
	syscall(SYS_getdents64, d, text, sizeof(text));
	fstatat(fd, "", &st, AT_EMPTY_PATH);
	access("file", R_OK);
	rename("file", "other");
	link("other", "third");
	symlink("other", "fourth");
	readlink("fourth", to, sizeof(to));
	unlink("third");
	unlinkat(d, "other", 0);
	close(fd);
	begin();
	unlink("fourth");
}
int main(int argc, char **argv)
{
	if (argc > 2 && !strcmp(argv[1], "count"))
		count(atoi(argv[2]));
	else if (argc > 2)
		names(argv[2]);
	return 0;
}
END
${CC:-cc} -O1 -w -o files files.c || exit 1
mkdir dir

# t SCRIPT ARGUMENTS: what the script prints, in one line, and sorted
t() { timeout 120 erltrace -qn "$1" -c "./files $2" 2>&1 | sort | words; }

count='
syscall::getppid:entry /pid == $target/ { part++; }
fsinfo:::read, fsinfo:::write, fsinfo:::seek /pid == $target && part == 1/
{
	@n[probename, args[0]->fi_name] = count();
	@b[probename] = sum(args[1]);
}
fsinfo:::open, fsinfo:::close /pid == $target && part == 2 && args[0]->fi_name == "counted"/
{
	@n[probename, args[0]->fi_pathname] = count();
}
END { printa("%s %s %@d\n", @n); printa("%s %@d\n", @b); }'
is '100,000 reads and writes, and their bytes; those that fail are none' \
	"close $tmp/counted 33334 open $tmp/counted 33334 read 71601432 read counted 100002$(
	) seek 0 seek counted 66668 write 71601432 write counted 100002" "$(t "$count" 'count 33334')"

names='
syscall::getppid:entry /pid == $target/ { on++; }
fsinfo::: /pid == $target && on == 1/
{
	printf("%s %s %s %s %d\n", probename, args[0]->fi_pathname, args[0]->fi_mount, args[0]->fi_fs, args[1] > 0);
}'
mount=$(df --output=target "$tmp" | tail -n 1) fs=$(stat -f -c %T "$tmp" | sed 's,ext2/ext3,ext4,')
here=$tmp/dir
is 'each operation, by a name of each kind' "$(for line in "access $here/file <unknown> <unknown> 0" \
	"close $here/other $mount $fs 0" "create $here/file $mount $fs 0" \
	"fsync $here/file $mount $fs 0" "getattr $here/file $mount $fs 0" \
	"ioctl $here/file $mount $fs 0" "link $here/other <unknown> <unknown> 0" \
	"map $here/file $mount $fs 0" "mkdir $here/at <unknown> <unknown> 0" \
	"mkdir $here/relative <unknown> <unknown> 0" "open $here/file $mount $fs 0" \
	"readdir $here $mount $fs 1" "readlink $here/fourth <unknown> <unknown> 0" \
	"remove $here/other <unknown> <unknown> 0" "remove $here/third <unknown> <unknown> 0" \
	"rename $here/file <unknown> <unknown> 0" "rmdir $here/at <unknown> <unknown> 0" \
	"rmdir $here/relative <unknown> <unknown> 0" "setattr $here/file $mount $fs 0" \
	"space $here/file $mount $fs 0" "symlink $here/fourth <unknown> <unknown> 0"; do
	echo "$line"; done | sort | words)" "$(t "$names" "names $here")"

like 'lookup is an error that says why' 'fsinfo:::open, getattr and access' \
	"$(erltrace -qn 'fsinfo:::lookup { }' 2>&1)"

finish
