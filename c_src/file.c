/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files, read into memory; see file.h. The size that fstat(2) tells is not relied on: that of
 * files in /proc is 0, and others may grow meanwhile. */
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
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
		if (S_ISREG(st.st_mode))
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
