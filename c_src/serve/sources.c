/* SPDX-License-Identifier: Apache-2.0 */
/* One epoll for all that is not HTTP: libwebsockets' loop watches it as one descriptor. */
#include "sources.h"
#include "serve.h"

#include <sys/epoll.h>

int source_watch(struct source *src, int fd)
{
	struct epoll_event ev = {.events = EPOLLIN, .data.ptr = src};

	src->fd = fd;
	return epoll_ctl(src->v->events, EPOLL_CTL_ADD, fd, &ev);
}

void source_unwatch(struct source *src)
{
	if (src->fd >= 0)
		epoll_ctl(src->v->events, EPOLL_CTL_DEL, src->fd, NULL);
	src->fd = -1;
}

void sources_events(struct serve *v)
{
	struct epoll_event ev[64];
	int n = epoll_wait(v->events, ev, 64, 0);

	for (int i = 0; i < n; i++) {
		struct source *src = ev[i].data.ptr;

		if (src->fd >= 0) /* or another event of this round has ended it */
			src->call(src);
	}
}
