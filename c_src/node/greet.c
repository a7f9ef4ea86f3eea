/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sockets that ei connects with. ei greets a node by itself, and believes the first answer:
 * the name that it gives us, longer than it may be or without a host, makes ei free what it has not
 * allocated, before either side has proved to know the cookie. So what a greeting reads comes
 * through here: package by package, each of a length that it can have, the name looked through, each
 * in its time. What ei writes has a time, too, also where ei has none. Before our answer to the
 * challenge goes out, it is looked at who would get it (peer.h).
 */
#include "greet.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "frame.h"
#include "peer.h"

enum { GREET_MS = 5000, WRITE_MS = 10000, HEAD = 2, PACKAGE = 1024 };

struct greeting {
	int fd;
	int64_t until; /* ms */
	int packages;  /* that have come: our name, the challenge, the answer to ours */
	struct greet_whom *whom; /* NULL: it has been looked at */
	unsigned char package[HEAD + PACKAGE];
	size_t len, at; /* what ei has of it */
};

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Waits until it can be read or written: 0, or an errno. */
static int await(int fd, short events, int64_t until)
{
	struct pollfd p = {.fd = fd, .events = events};

	for (;;) {
		int64_t left = until - now_ms();
		int n = poll(&p, 1, left > 0 ? (int)left : 0);

		if (n > 0)
			return 0;
		if (n == 0)
			return ETIMEDOUT;
		if (errno != EINTR)
			return errno;
	}
}

/* ---- connecting ------------------------------------------------------------------------- */

static int g_socket(void **ctx, void *setup)
{
	struct greeting *g = calloc(1, sizeof(*g));
	int error;

	if (g == NULL)
		return ENOMEM;
	g->whom = setup;
	/* A child of system() must not keep the connection when we have gone. */
	g->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (g->fd < 0) {
		error = errno;
		free(g);
		return error;
	}
	g->until = now_ms() + GREET_MS;
	*ctx = g;
	return 0;
}

static int g_close(void *ctx)
{
	struct greeting *g = ctx;
	int rc = close(g->fd);

	free(g);
	return rc < 0 ? errno : 0;
}

static int g_connect(void *ctx, void *addr, int len, unsigned ms)
{
	const struct greeting *g = ctx;
	int error = 0;
	socklen_t size = sizeof(error);

	(void)ms;
	if (connect(g->fd, addr, (socklen_t)len) == 0)
		return 0;
	if (errno != EINPROGRESS && errno != EINTR)
		return errno;
	error = await(g->fd, POLLOUT, g->until);
	if (error == 0 && getsockopt(g->fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
		error = errno;
	return error;
}

static int g_complete(void *ctx)
{
	const struct greeting *g = ctx;
	const int on = 1;

	setsockopt(g->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(g->fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	return 0;
}

static int g_head(void *ctx, int *size)
{
	(void)ctx;
	*size = HEAD;
	return 0;
}

static int g_fd(void *ctx, int *fd)
{
	const struct greeting *g = ctx;

	*fd = g->fd;
	return 0;
}

/* ---- reading and writing ---------------------------------------------------------------- */

static int fill(struct greeting *g, size_t upto)
{
	while (g->len < upto) {
		int error = await(g->fd, POLLIN, g->until);
		ssize_t n;

		if (error != 0)
			return error;
		n = recv(g->fd, g->package + g->len, upto - g->len, 0);
		/* One that does not like our cookie has told its challenge before. */
		if (n == 0 || (n < 0 && errno == ECONNRESET))
			return g->packages < 2 ? ENOTCONN : EIO;
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return errno;
		if (n > 0)
			g->len += (size_t)n;
	}
	return 0;
}

static int next_package(struct greeting *g)
{
	size_t size;
	int error;

	g->len = g->at = 0;
	g->until = now_ms() + GREET_MS;
	error = fill(g, HEAD);
	if (error != 0)
		return error;
	size = (size_t)g->package[0] << 8 | g->package[1];
	if (size == 0 || size > PACKAGE)
		return EBADMSG;
	error = fill(g, HEAD + size);
	if (error == 0 && g->packages++ == 0 &&
		!frame_name((const char *)g->package + HEAD, size))
		error = EBADMSG;
	return error;
}

static int g_read(void *ctx, char *to, ssize_t *len, unsigned ms)
{
	struct greeting *g = ctx;
	int error = g->at == g->len ? next_package(g) : 0;
	size_t n = g->len - g->at;

	(void)ms;
	if (error != 0)
		return error;
	if (n > (size_t)*len)
		n = (size_t)*len;
	memcpy(to, g->package + g->at, n);
	g->at += n;
	*len = (ssize_t)n;
	return 0;
}

/* Our own name goes to everybody whom we connect to; what follows proves the cookie. */
static bool may_answer(struct greeting *g)
{
	struct greet_whom *w = g->whom;

	if (g->packages == 0 || w == NULL)
		return true;
	g->whom = NULL;
	w->refused = peer_answers(w->peer, g->fd, w->e) < 0;
	return !w->refused;
}

static int g_writev(void *ctx, const void *iov, int count, ssize_t *len, unsigned ms)
{
	struct greeting *g = ctx;
	struct msghdr m = {.msg_iov = (struct iovec *)(uintptr_t)iov, .msg_iovlen = (size_t)count};
	int64_t until = now_ms() + (ms == 0 || ms > WRITE_MS ? WRITE_MS : ms);

	if (!may_answer(g))
		return EPERM;
	for (;;) {
		ssize_t n = sendmsg(g->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
		int error = 0;

		if (n >= 0) {
			*len = n;
			return 0;
		}
		if (errno == EAGAIN || errno == EWOULDBLOCK)
			error = await(g->fd, POLLOUT, until);
		else if (errno != EINTR)
			error = errno;
		if (error != 0)
			return error;
	}
}

static int g_write(void *ctx, const char *bytes, ssize_t *len, unsigned ms)
{
	struct iovec v = {.iov_base = (char *)(uintptr_t)bytes, .iov_len = (size_t)*len};

	return g_writev(ctx, &v, 1, len, ms);
}

ei_socket_callbacks greet_sockets = {
	.flags = EI_SCLBK_FLG_FULL_IMPL,
	.socket = g_socket,
	.close = g_close,
	.connect = g_connect,
	.writev = g_writev,
	.write = g_write,
	.read = g_read,
	.handshake_packet_header_size = g_head,
	.connect_handshake_complete = g_complete,
	.get_fd = g_fd,
};
