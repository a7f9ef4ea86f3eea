/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server has a thread for each run. When nobody wants the run any more its connections must end
 * at once, also while the thread waits for an answer: so each wait includes a descriptor of the
 * server's.
 */
#include "cancel.h"

#include <errno.h>
#include <time.h>

static _Thread_local int cancel_fd = -1;

void nd_cancel_by(int fd)
{
	cancel_fd = fd;
}

int nd_poll(struct pollfd *p, int ms)
{
	struct pollfd both[2] = {*p, {.fd = cancel_fd, .events = POLLIN}};
	int n = poll(both, cancel_fd >= 0 ? 2 : 1, ms);

	if (n > 0 && both[1].revents != 0) {
		errno = ECANCELED;
		return -1;
	}
	p->revents = both[0].revents;
	return n;
}

int64_t nd_now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int nd_await(int fd, short events, int64_t until_ms)
{
	struct pollfd p = {.fd = fd, .events = events};
	int n;

	do {
		int64_t left = until_ms - nd_now_ms();

		n = nd_poll(&p, left > 0 ? (int)left : 0);
	} while (n < 0 && errno == EINTR);
	return n > 0 ? 0 : n == 0 ? ETIMEDOUT : errno;
}
