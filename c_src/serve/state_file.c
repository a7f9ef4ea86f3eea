/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file of --state. The server may run as root, and the folder may be another user's: nothing
 * here waits for somebody else (a fifo), and nothing is written through a link that was put there
 * later. The path is resolved once, at the start: a link of the user's leads to the file that is
 * locked and replaced.
 *
 *   PATH       the last whole file
 *   PATH.new   the next one, until it is renamed: always a new file, of mode 0600
 *   PATH.lock  locked as long as the server runs; PATH itself is another file after each write
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "state_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "serve.h"

enum { MAX_LINKS = 40, LOCK_TRIES = 40, LOCK_PAUSE_NS = 50000000 };

/* ---- the path --------------------------------------------------------------------------- */

/* The folder of a path, with its slash; "" if it has none. */
static int folder_len(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? (int)(slash - path) + 1 : 0;
}

/* Links are followed also to a file that is not there yet. NULL and errno. */
static char *resolve(const char *name)
{
	char path[PATH_MAX], link[PATH_MAX], next[2 * PATH_MAX], *folder, *full = NULL;
	ssize_t n;
	int links = 0;

	if (snprintf(path, sizeof(path), "%s", name) >= (int)sizeof(path))
		return errno = ENAMETOOLONG, NULL;
	while ((n = readlink(path, link, sizeof(link) - 1)) >= 0) {
		link[n] = '\0';
		snprintf(next, sizeof(next), "%.*s%s", link[0] == '/' ? 0 : folder_len(path), path,
			link);
		if (++links > MAX_LINKS || strlen(next) >= sizeof(path))
			return errno = ELOOP, NULL;
		memcpy(path, next, strlen(next) + 1);
	}
	snprintf(next, sizeof(next), "%.*s", folder_len(path), path);
	folder = realpath(next[0] != '\0' ? next : ".", NULL);
	if (folder == NULL) /* it may be made later */
		return errno == ENOENT ? strdup(path) : NULL;
	if (asprintf(&full, "%s/%s", strcmp(folder, "/") == 0 ? "" : folder,
		    path + folder_len(path)) < 0)
		full = NULL;
	free(folder);
	return full;
}

/* Something else is neither opened nor locked. */
static int find(struct state_file *f)
{
	size_t len = strlen(f->name);
	struct stat st;

	if (len == 0 || stat(f->name, &st) == 0) {
		const char *kind = len == 0 ? "empty" : serve_file_kind(&st);

		if (kind != NULL) {
			serve_say("--state %s: is %s: it takes a file, or a name for a new one",
				f->name, kind);
			return -1;
		}
	} else if (errno != ENOENT || f->name[len - 1] == '/') {
		serve_say("--state %s: cannot be a file: %s", f->name,
			strerror(errno == ENOENT ? EISDIR : errno));
		return -1;
	}
	f->path = resolve(f->name);
	if (f->path == NULL)
		serve_say("--state %s: cannot be found: %s", f->name, strerror(errno));
	return f->path != NULL ? 0 : -1;
}

static void beside(const struct state_file *f, const char *end, char path[PATH_MAX + 8])
{
	snprintf(path, PATH_MAX + 8, "%s%s", f->path, end);
}

/* ---- the lock --------------------------------------------------------------------------- */

/* Is that descriptor's file still the one of this name? */
static bool is_at(int fd, const char *path)
{
	struct stat ours, there;

	return fd >= 0 && fstat(fd, &ours) == 0 && lstat(path, &there) == 0 &&
	       ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

/* As try_lock(), or ESTALE: it was removed in between. */
static int lock_once(const char *path, pid_t *other)
{
	struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600), error;
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0 && !S_ISREG(st.st_mode)) {
		errno = EINVAL;
	} else if (fcntl(fd, F_SETLK, &whole) == 0) {
		if (is_at(fd, path))
			return fd;
		errno = ESTALE;
	} else if (errno == EACCES || errno == EAGAIN) {
		*other = fcntl(fd, F_GETLK, &whole) == 0 && whole.l_type != F_UNLCK ? whole.l_pid
										    : 0;
		errno = EAGAIN;
	}
	error = errno;
	close(fd);
	errno = error;
	return -1;
}

/* A descriptor of PATH.lock, locked; or -1 and errno, EAGAIN if another server has it. */
static int try_lock(const char *path, pid_t *other)
{
	int fd = lock_once(path, other);

	for (int i = 0; fd < 0 && errno == ESTALE && i < LOCK_TRIES; i++)
		fd = lock_once(path, other);
	return fd;
}

/*
 * Two servers would overwrite each other's totals. The lock goes with the process, however that
 * ends; a server that was killed a moment ago may not have ended yet. Where there can be no lock
 * there may be no totals either, which is told when they are written.
 */
static int first_lock(struct state_file *f)
{
	const struct timespec pause = {.tv_nsec = LOCK_PAUSE_NS};
	char path[PATH_MAX + 8];
	pid_t other = 0;

	beside(f, ".lock", path);
	f->lock = try_lock(path, &other);
	for (int i = 0; f->lock < 0 && errno == EAGAIN && i < LOCK_TRIES; i++) {
		nanosleep(&pause, NULL);
		f->lock = try_lock(path, &other);
	}
	if (f->lock >= 0)
		return 0;
	if (errno != EAGAIN) {
		serve_say("%s: cannot be locked: %s: see to it that no other server has this "
			  "--state",
			path, strerror(errno));
		return 0;
	}
	if (other > 0)
		serve_say("%s: is the --state of another server, process %d: each needs its own",
			f->name, (int)other);
	else
		serve_say("%s: is the --state of another server: each needs its own", f->name);
	return -1;
}

/*
 * Before each write: somebody may have removed PATH.lock, and another server may have begun since.
 * It has read our totals, and goes on from them.
 */
static bool has_lock(struct state_file *f)
{
	char path[PATH_MAX + 8];
	bool had = f->lock >= 0;
	pid_t other = 0;
	int fd;

	beside(f, ".lock", path);
	if (f->taken || is_at(f->lock, path))
		return !f->taken;
	fd = try_lock(path, &other);
	if (fd < 0 && errno == EAGAIN) {
		f->taken = true;
		serve_say("%s: another server, process %d, has it now, as %s was removed: this one "
			  "does not write it any more",
			f->name, (int)other, path);
		return false;
	}
	if (had)
		serve_say("%s: was removed, while a server runs: it is %s", path,
			fd >= 0 ? "locked again" : "locked no more");
	if (had)
		close(f->lock);
	f->lock = fd;
	return true;
}

int state_file_open(struct state_file *f)
{
	f->lock = -1;
	return find(f) < 0 ? -1 : first_lock(f);
}

void state_file_close(struct state_file *f)
{
	if (f->lock >= 0)
		close(f->lock);
	f->lock = -1;
	free(f->path);
	f->path = NULL;
}

/* ---- reading and writing ---------------------------------------------------------------- */

json_t *state_file_read(const struct state_file *f, char *why, size_t size)
{
	int fd = open(f->path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	FILE *in = fd >= 0 ? fdopen(fd, "r") : NULL;
	json_t *all = NULL;
	json_error_t error;
	struct stat st;

	why[0] = '\0';
	if (in == NULL) {
		if (errno != ENOENT)
			snprintf(why, size, "cannot be read: %s", strerror(errno));
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
		snprintf(why, size, "is not a file any more");
	} else {
		all = json_loadf(in, 0, &error);
		if (all == NULL)
			snprintf(why, size, "%s: remove it to begin with nothing", error.text);
	}
	fclose(in);
	return all;
}

/* Whole, and on the disk. 0, or the error. */
static int put(const json_t *all, int fd)
{
	FILE *out = fdopen(fd, "w");
	int error = 0;

	if (out == NULL) {
		error = errno;
		close(fd);
		return error;
	}
	if (json_dumpf(all, out, JSON_COMPACT) < 0 || fflush(out) != 0 || fsync(fd) != 0)
		error = errno != 0 ? errno : EIO;
	if (fclose(out) != 0 && error == 0)
		error = errno;
	return error;
}

/* 0, or -1 and errno. What is there already is a rest, or somebody else's: it is not written to. */
static int write_new(const json_t *all, const char *path)
{
	int fd = -1, error;

	if (unlink(path) == 0 || errno == ENOENT)
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	errno = 0;
	error = put(all, fd);
	if (error == 0)
		return 0;
	unlink(path); /* a full disk */
	errno = error;
	return -1;
}

static int replace(const struct state_file *f, const json_t *all)
{
	char path[PATH_MAX + 8];
	int error;

	beside(f, ".new", path);
	if (all == NULL)
		return errno = ENOMEM, -1;
	if (write_new(all, path) < 0)
		return -1;
	if (rename(path, f->path) == 0)
		return 0;
	error = errno;
	unlink(path);
	errno = error;
	return -1;
}

int state_file_write(struct state_file *f, const json_t *all)
{
	int rc = -1;

	if (has_lock(f)) {
		rc = replace(f, all);
		if (rc < 0 && !f->failed)
			serve_say("%s: cannot be written: %s", f->name, strerror(errno));
		if (rc == 0 && f->failed)
			serve_say("%s: is written again", f->name);
	}
	f->failed = rc < 0;
	f->failures += rc < 0;
	if (rc == 0)
		f->written = serve_ms();
	return rc;
}
