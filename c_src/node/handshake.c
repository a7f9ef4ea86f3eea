/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The sockets that ei does its handshake on. ei trusts the first packet of a node: a name that is
 * too long, or has no host, makes ei free memory that it has not allocated, before either side has
 * proved that it knows the cookie. So ei reads through these functions: packet by packet, each of a
 * valid length and within a time limit, and the name is validated. Writes have a time limit too,
 * even where ei has none. Before the answer to the challenge goes out, the owner of the other end
 * is checked (port_owner.h).
 *
 */
#include "handshake.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "cancel.h"
#include "frame.h"
#include "port_owner.h"

/* A machine that is there is connected to at once; a node that is busy may take long to answer. */
enum { CONNECT_MS = 5000, PACKET_MS = 20000, SLOW_MS = 2000, WRITE_MS = 10000, HEAD = 2, PACKET = 1024 };
enum { TLS_ALERT = 21, TLS_MAJOR = 3 }; /* how TLS answers what is not TLS: not a length of ours */

struct handshake {
	int fd;
	int64_t until; /* ms */
	int packets;   /* received: our name, the challenge, the answer to ours */
	struct handshake_check *check; /* NULL: done */
	unsigned char packet[HEAD + PACKET];
	size_t len, at; /* what ei has of it */
};

/* ---- connecting ------------------------------------------------------------------------- */

static int hs_socket(void **ctx, void *setup)
{
	struct handshake *hs = calloc(1, sizeof(*hs));
	int error;

	if (hs == NULL)
		return ENOMEM;
	hs->check = setup;
	/* A child of system() must not keep the connection when we have gone. */
	hs->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (hs->fd < 0) {
		error = errno;
		free(hs);
		return error;
	}
	hs->until = nd_now_ms() + CONNECT_MS;
	*ctx = hs;
	return 0;
}

static int hs_close(void *ctx)
{
	struct handshake *hs = ctx;
	int rc = close(hs->fd);

	free(hs);
	return rc < 0 ? errno : 0;
}

static int hs_connect(void *ctx, void *addr, int len, unsigned ms)
{
	const struct handshake *hs = ctx;
	int error = 0;
	socklen_t size = sizeof(error);

	(void)ms;
	if (connect(hs->fd, addr, (socklen_t)len) == 0)
		return 0;
	if (errno != EINPROGRESS && errno != EINTR)
		return errno;
	error = nd_await(hs->fd, POLLOUT, hs->until);
	if (error == 0 && getsockopt(hs->fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0)
		error = errno;
	return error;
}

static int hs_complete(void *ctx)
{
	const struct handshake *hs = ctx;
	const int on = 1;

	setsockopt(hs->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(hs->fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	return 0;
}

static int hs_head(void *ctx, int *size)
{
	(void)ctx;
	*size = HEAD;
	return 0;
}

static int hs_fd(void *ctx, int *fd)
{
	const struct handshake *hs = ctx;

	*fd = hs->fd;
	return 0;
}

/* ---- reading and writing ---------------------------------------------------------------- */

/* Somebody may want to know what takes long. */
static int await_bytes(struct handshake *hs)
{
	const struct nd_accept *who = hs->check != NULL ? hs->check->port->accept : NULL;
	int error;

	if (who == NULL || who->waits == NULL || hs->check->slow)
		return nd_await(hs->fd, POLLIN, hs->until);
	error = nd_await(hs->fd, POLLIN, hs->until - PACKET_MS + SLOW_MS);
	if (error != ETIMEDOUT)
		return error;
	hs->check->slow = true;
	who->waits(who->arg, hs->check->port->name);
	return nd_await(hs->fd, POLLIN, hs->until);
}

static int fill(struct handshake *hs, size_t upto)
{
	while (hs->len < upto) {
		int error = await_bytes(hs);
		ssize_t n;

		if (error != 0)
			return error;
		n = recv(hs->fd, hs->packet + hs->len, upto - hs->len, 0);
		/* A node that rejects our cookie has sent its challenge before. */
		if (n == 0 || (n < 0 && errno == ECONNRESET))
			return hs->packets < 2 ? ENOTCONN : EIO;
		if (n < 0 && errno != EINTR && errno != EAGAIN)
			return errno;
		if (n > 0)
			hs->len += (size_t)n;
	}
	return 0;
}

static int next_packet(struct handshake *hs)
{
	size_t size;
	int error, status;

	hs->len = hs->at = 0;
	hs->until = nd_now_ms() + PACKET_MS;
	error = fill(hs, HEAD);
	if (error != 0)
		return error;
	if (hs->packets == 0 && hs->check != NULL && hs->packet[0] == TLS_ALERT &&
		hs->packet[1] == TLS_MAJOR)
		hs->check->tls = true;
	size = (size_t)hs->packet[0] << 8 | hs->packet[1];
	if (size == 0 || size > PACKET)
		return EBADMSG;
	error = fill(hs, HEAD + size);
	if (error != 0 || hs->packets++ > 0)
		return error;
	status = frame_status((const char *)hs->packet + HEAD, size);
	if (status > 0 && hs->check != NULL)
		hs->check->taken = true;
	return status < 0 ? EBADMSG : 0;
}

static int hs_read(void *ctx, char *to, ssize_t *len, unsigned ms)
{
	struct handshake *hs = ctx;
	int error = hs->at == hs->len ? next_packet(hs) : 0;
	size_t n = hs->len - hs->at;

	(void)ms;
	if (error != 0)
		return error;
	if (n > (size_t)*len)
		n = (size_t)*len;
	memcpy(to, hs->packet + hs->at, n);
	hs->at += n;
	*len = (ssize_t)n;
	return 0;
}

/* The first packet is only our name; what follows proves that we know the cookie. */
static bool may_answer(struct handshake *hs)
{
	struct handshake_check *w = hs->check;

	if (hs->packets == 0 || w == NULL)
		return true;
	hs->check = NULL;
	w->refused = port_check_peer(w->port, hs->fd, w->e) < 0;
	return !w->refused;
}

static int hs_writev(void *ctx, const void *iov, int count, ssize_t *len, unsigned ms)
{
	struct handshake *hs = ctx;
	struct msghdr m = {.msg_iov = (struct iovec *)(uintptr_t)iov, .msg_iovlen = (size_t)count};
	int64_t until = nd_now_ms() + (ms == 0 || ms > WRITE_MS ? WRITE_MS : ms);

	if (!may_answer(hs))
		return EPERM;
	for (;;) {
		ssize_t n = sendmsg(hs->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
		int error = 0;

		if (n >= 0) {
			*len = n;
			return 0;
		}
		if (errno == EAGAIN || errno == EWOULDBLOCK)
			error = nd_await(hs->fd, POLLOUT, until);
		else if (errno != EINTR)
			error = errno;
		if (error != 0)
			return error;
	}
}

static int hs_write(void *ctx, const char *bytes, ssize_t *len, unsigned ms)
{
	struct iovec v = {.iov_base = (char *)(uintptr_t)bytes, .iov_len = (size_t)*len};

	return hs_writev(ctx, &v, 1, len, ms);
}

ei_socket_callbacks handshake_sockets = {
	.flags = EI_SCLBK_FLG_FULL_IMPL,
	.socket = hs_socket,
	.close = hs_close,
	.connect = hs_connect,
	.writev = hs_writev,
	.write = hs_write,
	.read = hs_read,
	.handshake_packet_header_size = hs_head,
	.connect_handshake_complete = hs_complete,
	.get_fd = hs_fd,
};
