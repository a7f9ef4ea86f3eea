/* SPDX-License-Identifier: Apache-2.0 */
/* One epoll for all that is not HTTP: libwebsockets' loop watches it as one descriptor. */
#include "sources.h"
#include "serve.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "array.h"

enum { READ_SIZE = 64 << 10 };

int source_watch(struct source *src, int fd)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = src};

	src->fd = fd;
	return epoll_ctl(src->v->children, EPOLL_CTL_ADD, fd, &ev);
}

void source_shut(struct source *src)
{
	if (src->fd >= 0)
		close(src->fd); /* which takes it out of the epoll */
	src->fd = -1;
}

void sources_events(struct serve *v)
{
	struct epoll_event ev[64];
	int n = epoll_wait(v->children, ev, 64, 0);

	for (int i = 0; i < n; i++) {
		struct source *src = ev[i].data.ptr;

		if (src->fd >= 0) /* or another event of this round has closed it */
			src->call(src);
	}
}

static void cut(struct lines *l, void (*each)(void *arg, const char *line, size_t len), void *arg)
{
	char *p = l->text, *end = p + l->n, *nl;

	while ((nl = memchr(p, '\n', (size_t)(end - p))) != NULL) {
		each(arg, p, (size_t)(nl - p));
		p = nl + 1;
	}
	l->n = (size_t)(end - p);
	memmove(l->text, p, l->n);
}

enum lines_state lines_read(
	struct lines *l, int fd, void (*each)(void *arg, const char *line, size_t len), void *arg)
{
	ssize_t n;

	if (l->n + READ_SIZE > SERVE_MAX_LINE ||
		!ARRAY_RESERVE(l->text, l->room, l->n + READ_SIZE)) {
		l->n = 0;
		return LINES_LOST;
	}
	n = read(fd, l->text + l->n, READ_SIZE);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return LINES_MORE;
	if (n <= 0)
		return LINES_END;
	l->n += (size_t)n;
	cut(l, each, arg);
	return LINES_MORE;
}
