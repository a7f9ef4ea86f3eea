/* SPDX-License-Identifier: Apache-2.0 */
/* The files of snapshots: names, parts, and the removal of old ones. */
#include "snapshot_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "array.h"

enum { TIME_LEN = 20, WHY_LEN = 64, NAME_LEN = 60 }; /* 20261117T025539.123Z */

static const struct {
	const char *form, *end;
} ends[] = {{"text", ".txt"}, {"json", ".json"}, {"timeline", ".trace.json"}};

/* What may stand in the name of a file; '-' separates its parts. */
static void clean(char *to, size_t size, const char *from, const char *also)
{
	size_t n = 0;

	for (; *from != '\0' && n + 1 < size; from++) {
		bool plain = (*from >= 'a' && *from <= 'z') || (*from >= 'A' && *from <= 'Z') ||
			     (*from >= '0' && *from <= '9') || strchr(also, *from) != NULL;

		if (plain || (n > 0 && to[n - 1] != '_'))
			to[n++] = plain ? *from : '_';
	}
	to[n] = '\0';
}

static void time_text(uint64_t wall, char *buf, size_t size)
{
	time_t s = (time_t)(wall / 1000000000);
	struct tm tm;
	size_t n;

	gmtime_r(&s, &tm);
	n = strftime(buf, size, "%Y%m%dT%H%M%S", &tm);
	snprintf(buf + n, size - n, ".%03uZ", (unsigned)(wall / 1000000 % 1000));
}

static void script_text(const char *script, char *buf, size_t size)
{
	const char *slash = script != NULL ? strrchr(script, '/') : NULL;
	size_t n;

	clean(buf, size, slash != NULL ? slash + 1 : script != NULL ? script : "", "_.");
	n = strlen(buf);
	if (n > 2 && strcmp(buf + n - 2, ".d") == 0)
		buf[n - 2] = '\0';
	if (buf[0] == '\0' || buf[0] == '.')
		snprintf(buf, size, "script");
}

int snapshot_file_open(struct snapshot_file *f, const struct snapshot_name *n)
{
	char when[32], script[NAME_LEN], node[NAME_LEN], why[WHY_LEN];
	int len;

	f->fd = -1;
	f->error = 0;
	f->end = ".txt";
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (strcmp(ends[i].form, n->form) == 0)
			f->end = ends[i].end;
	time_text(n->wall, when, sizeof(when));
	script_text(n->script, script, sizeof(script));
	clean(node, sizeof(node), n->node, "_.@");
	clean(why, sizeof(why), n->why, "_.");
	snprintf(f->stem, sizeof(f->stem), "-%s-", script);
	len = snprintf(f->dir, sizeof(f->dir), "%s", n->dir);
	if (len < 0 || (size_t)len >= sizeof(f->dir))
		return f->error = ENAMETOOLONG;
	len = snprintf(f->path, sizeof(f->path), "%s/%s%s%s%s%s%s", n->dir, when, f->stem, node,
		node[0] ? "-" : "", why[0] ? why : "snapshot", f->end);
	if (len < 0 || (size_t)len >= sizeof(f->path))
		return f->error = ENAMETOOLONG;
	snprintf(f->part, sizeof(f->part), "%s.part", f->path);
	f->fd = open(f->part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	return f->error = f->fd < 0 ? errno : 0;
}

void snapshot_file_drop(struct snapshot_file *f)
{
	if (f->fd < 0)
		return;
	close(f->fd);
	f->fd = -1;
	unlink(f->part);
}

static int failed(struct snapshot_file *f, int error)
{
	snapshot_file_drop(f);
	return f->error = error;
}

int snapshot_file_write(struct snapshot_file *f, const char *bytes, size_t len)
{
	ssize_t n;

	if (f->fd < 0)
		return f->error;
	while (len > 0) {
		n = write(f->fd, bytes, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return failed(f, n < 0 ? errno : EIO);
		bytes += n;
		len -= (size_t)n;
	}
	return 0;
}

/* ---- old ones ------------------------------------------------------------------------- */

static bool is_time(const char *s)
{
	static const char like[] = "00000000T000000.000Z";

	for (size_t i = 0; i < TIME_LEN; i++)
		if (like[i] == '0' ? s[i] < '0' || s[i] > '9' : s[i] != like[i])
			return false;
	return true;
}

/* A file of this script and form? */
static bool is_ours(const struct snapshot_file *f, const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);

	if (!is_time(name) || strncmp(name + TIME_LEN, f->stem, strlen(f->stem)) != 0)
		return false;
	if (n <= m || strcmp(name + n - m, end) != 0)
		return false;
	/* .trace.json is not .json */
	return strcmp(end, ".json") != 0 || n < 11 || strcmp(name + n - 11, ".trace.json") != 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Names begin with the time: the first in order is the oldest. */
static void remove_old(const struct snapshot_file *f, const char *end, size_t most)
{
	DIR *d = opendir(f->dir);
	char **names = NULL;
	struct dirent *e;
	size_t n = 0;

	while (d != NULL && (e = readdir(d)) != NULL) {
		if (!is_ours(f, e->d_name, end) || !ARRAY_ROOM(names, n))
			continue;
		names[n] = strdup(e->d_name);
		n += names[n] != NULL;
	}
	if (n > 0)
		qsort(names, n, sizeof(*names), by_name);
	for (size_t i = 0; i < n; i++) {
		if (i + most < n)
			unlinkat(dirfd(d), names[i], 0);
		free(names[i]);
	}
	free(names);
	if (d != NULL)
		closedir(d);
}

int snapshot_file_close(struct snapshot_file *f, unsigned most)
{
	int rc;

	if (f->fd < 0)
		return f->error;
	rc = close(f->fd) != 0 ? errno : 0; /* some file systems tell only now that they are full */
	f->fd = -1;
	if (rc == 0 && rename(f->part, f->path) != 0)
		rc = errno;
	if (rc != 0)
		unlink(f->part);
	else
		remove_old(f, f->end, most);
	remove_old(f, ".part", most); /* of those who died meanwhile */
	return f->error = rc;
}
