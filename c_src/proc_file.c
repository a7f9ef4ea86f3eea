/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opening files that other processes name. The owner of such a process controls what is there: a
 * FIFO without a writer, a device, a link to somewhere else, a file that changes while it is read.
 * So a file is examined before it is opened (O_PATH), and opened only if it is a regular one. Paths
 * are resolved below the root directory of the process, so links cannot lead out of it.
 */
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "proc_file.h"

enum { LOOK = O_PATH | O_CLOEXEC, READ = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY };

/* Open the file that was examined; fd is closed. */
static int reopen(int fd, const struct stat *st)
{
	char path[64];
	int file = -1;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (S_ISREG(st->st_mode))
		file = open(path, READ);
	close(fd);
	return file;
}

static int open_regular(int fd)
{
	struct stat st = {.st_mode = 0};

	if (fd < 0)
		return -1;
	fstat(fd, &st);
	return reopen(fd, &st);
}

int fi_open(const char *path)
{
	return open_regular(open(path, LOOK));
}

/* Resolve a path in the root directory of a process; follow: also a link as its last part. */
static int open_path_in(int pid, const char *path, bool follow)
{
	struct open_how how = {.flags = (uint64_t)(LOOK | (follow ? 0 : O_NOFOLLOW)),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
	char root[64];
	int dir, fd;

	snprintf(root, sizeof(root), "/proc/%d/root", pid);
	dir = open(root, LOOK | O_DIRECTORY);
	if (dir < 0)
		return -1;
	fd = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
	close(dir);
	return fd;
}

int fi_open_in(int pid, const char *path)
{
	return open_regular(open_path_in(pid, path, true));
}

/* The owner of a process, and its pid in its own pid namespace. */
static bool read_status(int pid, uid_t *uid, int *inner)
{
	char path[64], line[512];
	bool found = false;
	FILE *f;

	*inner = pid;
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		const char *last = strrchr(line, '\t');

		found |= sscanf(line, "Uid:\t%*u\t%u", uid) == 1;
		if (strncmp(line, "NSpid:", 6) == 0 && last != NULL)
			sscanf(last, "%d", inner);
	}
	if (f != NULL)
		fclose(f);
	return found;
}

int fi_own_pid(int pid)
{
	uid_t uid;
	int inner;

	read_status(pid, &uid, &inner);
	return inner;
}

bool fi_is_ours(int pid)
{
	uid_t uid;
	int inner;

	return read_status(pid, &uid, &inner) && uid == geteuid();
}

int fi_open_perf_map(int pid)
{
	char path[64];
	struct stat st;
	uid_t uid;
	int inner, fd;

	if (!read_status(pid, &uid, &inner))
		return -1;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", inner);
	fd = open_path_in(pid, path, false);
	if (fd < 0)
		return -1;
	if (fstat(fd, &st) < 0 || (st.st_uid != uid && st.st_uid != 0)) {
		close(fd);
		return -1;
	}
	return reopen(fd, &st);
}

bool fi_is_stopped(int pid)
{
	char path[64], line[512];
	const char *end;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (f == NULL || fgets(line, sizeof(line), f) == NULL)
		line[0] = '\0';
	if (f != NULL)
		fclose(f);
	end = strrchr(line, ')'); /* "pid (name) state ..." */
	return end != NULL && (strncmp(end, ") T", 3) == 0 || strncmp(end, ") t", 3) == 0);
}
