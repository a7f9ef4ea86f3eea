/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading whole files into memory; see file.h. The size from fstat(2) is not relied on: it is 0 for
 * files in /proc, and a file may grow meanwhile.
 */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "array.h"

static void close_keeping_errno(int fd)
{
	int error = errno;

	close(fd);
	errno = error;
}

int file_open(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0) {
		/* /dev/null is an empty file: people mask files by a link to it */
		if (S_ISREG(st.st_mode) || (S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3)))
			return fd;
		errno = S_ISDIR(st.st_mode) ? EISDIR : EINVAL;
	}
	close_keeping_errno(fd);
	return -1;
}

char *file_read_fd(int fd, size_t max, size_t *len)
{
	size_t room = 0, n = 0;
	char *text = NULL;
	ssize_t got;

	for (;;) {
		if (!ARRAY_RESERVE(text, room, n + 2)) {
			errno = ENOMEM;
			break;
		}
		got = read(fd, text + n, room - n - 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			break;
		n += (size_t)got;
		if (n > max) {
			errno = EFBIG;
			break;
		}
		if (got == 0) {
			text[n] = '\0';
			*len = n;
			return text;
		}
	}
	free(text);
	return NULL;
}

char *file_read(const char *path, size_t max, size_t *len)
{
	int fd = file_open(path);
	char *text;

	if (fd < 0)
		return NULL;
	text = file_read_fd(fd, max, len);
	close_keeping_errno(fd);
	return text;
}

/* Standard input is duplicated, not opened: there may be no /dev, or opening may be denied. */
static int open_script(const char *path)
{
	return strcmp(path, "/dev/stdin") == 0 ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)
					       : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
}

static int no_script(const char *path, bool opened, size_t max, struct et_error *e)
{
	switch (errno) {
	case EISDIR: return et_err(e, ET_FILE, "%s is a directory, not a script", path);
	case ENOMEM: return et_err(e, ET_NOMEM, "out of memory reading %s", path);
	case EFBIG:
		return et_err(e, D_SYNTAX, "%s is too large for a script: %zu bytes are the limit",
			path, max);
	default:
		return et_err(e, ET_FILE, "cannot %s %s: %s", opened ? "read" : "open", path,
			strerror(errno));
	}
}

char *file_read_script(const char *path, size_t max, size_t *len, struct et_error *e)
{
	int fd = open_script(path);
	char *text = fd >= 0 ? file_read_fd(fd, max, len) : NULL;

	if (text == NULL)
		no_script(path, fd >= 0, max, e);
	if (fd >= 0)
		close(fd);
	return text;
}
