/* SPDX-License-Identifier: Apache-2.0 */
/* Waiting for a node, until somebody else wants it to end. */
#ifndef NODE_CANCEL_H
#define NODE_CANCEL_H

#include <poll.h>
#include <stdint.h>

/*
 * For the calling thread: when fd becomes readable, its waits for nodes fail at once, as if the
 * nodes had gone. -1: they never do.
 */
void nd_cancel_by(int fd);
/* poll() of one descriptor, which that ends too: -1, ECANCELED. */
int nd_poll(struct pollfd *p, int ms);
int64_t nd_now_ms(void); /* monotonic */
/* Until it can be read or written, which may be an error, at most until then: 0, or an errno. */
int nd_await(int fd, short events, int64_t until_ms);

#endif
