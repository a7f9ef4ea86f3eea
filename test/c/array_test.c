/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that grow (c_src/array.h), and whole files read into memory (c_src/file.h). */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array.h"
#include "checks.h"
#include "file.h"

struct big {
	char bytes[SIZE_MAX / 16]; /* as large as clang takes it */
};

static void test_room(void)
{
	int *v = NULL, sum = 0, *before;
	size_t n = 0;

	while (n < 1000 && ARRAY_ROOM(v, n)) {
		v[n] = (int)n;
		n++;
	}
	for (size_t i = 0; i < n; i++)
		sum += v[i];
	CHECK(n == 1000 && sum == 999 * 1000 / 2, "%zu %d", n, sum);
	before = v;
	CHECK(ARRAY_ROOM(v, 1000) && v == before); /* 1,024 are there */
	n = 3;					   /* what was taken out leaves room */
	CHECK(ARRAY_ROOM(v, n) && v[2] == 2);
	free(v);
}

static void test_room_overflow(void)
{
	struct big *v = NULL;
	char *bytes = malloc(1), *before = bytes;
	size_t room = 1;

	CHECK(!ARRAY_ROOM(v, 8) && v == NULL); /* sixteen: more than there are addresses */
	CHECK(!ARRAY_RESERVE(bytes, room, SIZE_MAX) && bytes == before && room == 1);
	free(bytes);
}

static void test_reserve(void)
{
	char *text = NULL;
	size_t room = 0;

	CHECK(ARRAY_RESERVE(text, room, 1) && room == 1024);
	memset(text, 'a', room);
	CHECK(ARRAY_RESERVE(text, room, 1024) && room == 1024);
	CHECK(ARRAY_RESERVE(text, room, 5000) && room == 8192 && text[1023] == 'a');
	memset(text, 'b', room);
	free(text);
}

static int make(const char *path, const char *text, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	bool done = fd >= 0 && write(fd, text, len) == (ssize_t)len;

	if (fd >= 0)
		close(fd);
	return done ? 0 : -1;
}

static int error_of(const char *path, size_t max)
{
	size_t len = 0;
	char *text;

	errno = 0;
	text = file_read(path, max, &len);
	free(text);
	return text == NULL ? errno : 0;
}

static void test_files(void)
{
	char dir[] = "/tmp/array_test.XXXXXX", file[64], fifo[64], got[3000];
	size_t len = 0;
	char *text;

	memset(got, 'x', sizeof(got));
	if (!CHECK(mkdtemp(dir) != NULL))
		return;
	snprintf(file, sizeof(file), "%s/file", dir);
	snprintf(fifo, sizeof(fifo), "%s/fifo", dir);
	CHECK(make(file, got, sizeof(got)) == 0 && mkfifo(fifo, 0600) == 0);
	text = file_read(file, sizeof(got), &len);
	CHECK(text != NULL && len == sizeof(got) && strlen(text) == len &&
		memcmp(text, got, len) == 0);
	free(text);
	CHECK(error_of(file, sizeof(got) - 1) == EFBIG);
	CHECK(make(file, "", 0) == 0 && error_of(file, 0) == 0);
	CHECK(error_of(fifo, 100) == EINVAL); /* and does not wait for a writer */
	CHECK(error_of("/dev/zero", 100) == EINVAL && error_of("/dev/null", 100) == 0);
	CHECK(error_of(dir, 100) == EISDIR);
	CHECK(unlink(file) == 0 && error_of(file, 100) == ENOENT);
	unlink(fifo);
	rmdir(dir);
}

/* fstat(2) says that it has no byte; there are NULs in it. */
static void test_proc(void)
{
	size_t len = 0;
	char *text = file_read("/proc/self/cmdline", 1 << 20, &len);

	CHECK(text != NULL && len > strlen("array_test") && text[len] == '\0');
	free(text);
}

static void test_pipe(void)
{
	size_t len = 0;
	char *text;
	int fds[2];

	if (!CHECK(pipe(fds) == 0))
		return;
	CHECK(write(fds[1], "a\0b", 3) == 3);
	close(fds[1]);
	text = file_read_fd(fds[0], 100, &len);
	CHECK(text != NULL && len == 3 && memcmp(text, "a\0b", 4) == 0);
	free(text);
	close(fds[0]);
	errno = 0;
	CHECK(file_read_fd(fds[0], 100, &len) == NULL && errno == EBADF);
}

int main(void)
{
	test_room();
	test_room_overflow();
	test_reserve();
	test_files();
	test_proc();
	test_pipe();
	return finish();
}
