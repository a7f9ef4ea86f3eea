/* SPDX-License-Identifier: Apache-2.0 */
/* Reading frames; frame.h says which. */
#include "frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "cancel.h"
#include "etf.h"

enum { FIRST_ROOM = 4096, PASS_THROUGH = 'p', VERSION = 131 };

/* ---- reading --------------------------------------------------------------------------- */

/* What there is of n bytes: 0: nothing now; -1: nothing any more. */
static ssize_t take(int fd, void *to, size_t n)
{
	ssize_t got;

	do
		got = recv(fd, to, n, MSG_DONTWAIT);
	while (got < 0 && errno == EINTR);
	if (got > 0)
		return got;
	return got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? 0 : -1;
}

/* Room for more than has come, and for twice that at most: a length is only a claim. */
static int make_room(struct frame *f)
{
	size_t want = f->got < FIRST_ROOM / 2 ? FIRST_ROOM : 2 * f->got;
	char *more;

	if (want > f->len)
		want = f->len;
	if (f->room >= want + TERM_PAD)
		return 0;
	more = realloc(f->bytes, want + TERM_PAD);
	if (more == NULL)
		return -1;
	f->bytes = more;
	f->room = want + TERM_PAD;
	return 0;
}

static int read_head(struct frame *f, int fd)
{
	while (f->nhead < sizeof(f->head)) {
		ssize_t n = take(fd, f->head + f->nhead, sizeof(f->head) - f->nhead);

		if (n <= 0)
			return (int)n;
		f->nhead += (size_t)n;
	}
	f->len = (size_t)f->head[0] << 24 | (size_t)f->head[1] << 16 | (size_t)f->head[2] << 8 |
		 f->head[3];
	return f->len <= FRAME_MAX ? 1 : -2;
}

int frame_read(struct frame *f, int fd)
{
	int rc;

	if (f->nhead == sizeof(f->head) && f->got == f->len) /* the last one was whole */
		f->nhead = f->len = f->got = 0;
	rc = read_head(f, fd);
	while (rc > 0 && f->got < f->len) {
		size_t room;
		ssize_t n;

		if (make_room(f) < 0)
			return -1;
		room = f->room - TERM_PAD < f->len ? f->room - TERM_PAD : f->len;
		n = take(fd, f->bytes + f->got, room - f->got);
		if (n <= 0)
			return (int)n;
		f->got += (size_t)n;
	}
	if (rc > 0 && f->len > 0)
		memset(f->bytes + f->len, 0, TERM_PAD);
	return rc;
}

/* ---- what it is ------------------------------------------------------------------------ */

/* The operations of control terms, with the trace tokens that some have behind. */
enum {
	SEND = 2,	  /* {2, Unused, To} */
	REG_SEND = 6,	  /* {6, From, Unused, Name} */
	SEND_TT = 12,
	REG_SEND_TT = 16,
	SEND_SENDER = 22, /* {22, From, To} */
	SEND_SENDER_TT = 23,
	UNLINK_ID = 35,	  /* {35, Id, From, To} */
	UNLINK_ID_ACK = 36,
};

enum { MOST_PARTS = 5 };

struct control {
	int op, n;
	struct frame_part part[MOST_PARTS]; /* behind the operation */
	size_t size;
};

/* A tuple of a small number and others: {Op, ..}. */
static int read_control(const char *bytes, size_t len, struct control *c)
{
	size_t at, size = term_size(bytes, len);
	int arity;

	if (size < 4 || bytes[0] != 'h' || bytes[2] != 'a')
		return -1;
	arity = (unsigned char)bytes[1] - 1;
	c->op = (unsigned char)bytes[3];
	c->size = size;
	at = 4;
	for (c->n = 0; c->n < arity && c->n < MOST_PARTS; c->n++) {
		struct frame_part *p = &c->part[c->n];

		*p = (struct frame_part){
			.bytes = bytes + at, .n = term_size(bytes + at, size - at)};
		at += p->n;
	}
	return 0;
}

/* A process is its node, then id, serial and creation. */
static int creation_of(const struct frame_part *p, uint32_t *creation)
{
	const unsigned char *end = (const unsigned char *)p->bytes + p->n;

	if (p->bytes[0] == 'X')
		*creation = (uint32_t)end[-4] << 24 | (uint32_t)end[-3] << 16 |
			    (uint32_t)end[-2] << 8 | end[-1];
	else if (p->bytes[0] == 'g')
		*creation = end[-1] & 3;
	else
		return -1;
	return 0;
}

static int classify(const struct control *c, struct frame_message *m)
{
	switch (c->op) {
	case SEND:
	case SEND_TT:
	case SEND_SENDER:
	case SEND_SENDER_TT:
		m->kind = FRAME_SEND;
		return c->n < 2 ? -1 : creation_of(&c->part[1], &m->creation);
	case REG_SEND:
	case REG_SEND_TT:
		m->kind = FRAME_REG_SEND;
		return c->n < 3 ? -1 : 0;
	case UNLINK_ID:
		m->kind = FRAME_UNLINK;
		m->id = c->part[0];
		m->from = c->part[1];
		m->to = c->part[2];
		return c->n < 3 ? -1 : 0;
	default:
		m->kind = FRAME_OTHER;
		return 0;
	}
}

int frame_message(const char *bytes, size_t len, struct frame_message *m)
{
	struct control c = {.n = 0};
	size_t at = 2;

	*m = (struct frame_message){.kind = FRAME_OTHER};
	if (len < 2 || bytes[0] != PASS_THROUGH || (unsigned char)bytes[1] != VERSION ||
		read_control(bytes + at, len - at, &c) < 0 || classify(&c, m) < 0)
		return -1;
	if (m->kind != FRAME_SEND && m->kind != FRAME_REG_SEND)
		return 0;
	at += c.size;
	if (at >= len || (unsigned char)bytes[at] != VERSION)
		return -1;
	m->at = at + 1;
	return term_size(bytes + m->at, len - m->at) == len - m->at && m->at < len ? 0 : -1;
}

int frame_status(const char *bytes, size_t len)
{
	static const char taken[][8] = {"salive", "snok"};

	if (len == 0 || bytes[0] != 's')
		return -1;
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		if (len == strlen(taken[i]) && memcmp(bytes, taken[i], len) == 0)
			return 1;
	return 0;
}

/* ---- answers --------------------------------------------------------------------------- */

/* All of it; if it must be, waits for room. */
static int put(int fd, const char *bytes, size_t n, bool must, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	int ready;

	while (n > 0) {
		ssize_t sent = send(fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (sent < 0 && errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)
			return -1;
		if (sent < 0 && errno != EINTR) {
			if (!must)
				return 0;
			ready = nd_poll(&p, ms);
			if (ready == 0 || (ready < 0 && errno == ECANCELED))
				return -1;
		}
		if (sent > 0) {
			bytes += sent;
			n -= (size_t)sent;
			must = true; /* half of it would spoil all that follows */
		}
	}
	return 0;
}

int frame_tick(int fd, int ms)
{
	/* Without room other bytes are on their way, and these are as good. */
	return put(fd, "\0\0\0\0", 4, false, ms);
}

int frame_unlinked(int fd, const struct frame_message *m, int ms)
{
	static const char begin[] = {PASS_THROUGH, (char)VERSION, 'h', 4, 'a', UNLINK_ID_ACK};
	size_t len = sizeof(begin) + m->id.n + m->from.n + m->to.n, at = 4;
	const struct frame_part parts[] = {{begin, sizeof(begin)}, m->id, m->to, m->from};
	char out[4096];

	if (len + 4 > sizeof(out))
		return -1; /* three short terms that a node made are shorter */
	for (int i = 0; i < 4; i++)
		out[i] = (char)(len >> (24 - 8 * i));
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		memcpy(out + at, parts[i].bytes, parts[i].n);
		at += parts[i].n;
	}
	return put(fd, out, at, true, ms);
}
