/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server has a thread for each run. When nobody wants the run any more its connections must end
 * at once, also while the thread waits for an answer: so each wait includes a descriptor of the
 * server's.
 */
#include "cancel.h"

#include <errno.h>

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
