/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames of Erlang's distribution, as a hidden C node gets them: a length of four bytes, then 'p',
 * a control term and for messages the term that was sent. ei promises the other side that it knows
 * neither fragments nor an atom cache, so nothing else can come from a node; from anybody else
 * anything can. Needs no ei: only bytes.
 */
#ifndef NODE_FRAME_H
#define NODE_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FRAME_MAX = 1 << 30 };

/* One that is being read; all zero: none yet. */
struct frame {
	unsigned char head[4];
	size_t nhead;
	char *bytes; /* malloc()ed; behind a whole frame come TERM_PAD zeros */
	size_t room, len, got;
};

/*
 * Takes what has come, without waiting and nothing of the next frame. 1: the frame is whole (a tick
 * has length 0), valid until the next call; 0: not all of it yet; -1: the connection has ended;
 * -2: there can be no such frame. Memory is taken as bytes come, whatever the length says.
 */
int frame_read(struct frame *f, int fd);
/* Has some of it come? Then more must follow. */
static inline size_t frame_begun(const struct frame *f)
{
	return f->nhead + f->got < sizeof(f->head) + f->len ? f->nhead + f->got : 0;
}

enum frame_kind {
	FRAME_OTHER,	/* links, monitors, exits: not for us */
	FRAME_SEND,	/* to a process of ours */
	FRAME_REG_SEND, /* to a name */
	FRAME_UNLINK,	/* it wants frame_unlinked() */
};

struct frame_part {
	const char *bytes;
	size_t n;
};

struct frame_message {
	enum frame_kind kind;
	uint32_t creation;	    /* FRAME_SEND: of the process that it is for */
	size_t at;		    /* the term, which ends where the frame does */
	struct frame_part id, from, to; /* FRAME_UNLINK */
};

/* What a whole frame is, all its terms walked. -1: it is no frame of a node. */
int frame_message(const char *bytes, size_t len, struct frame_message *m);

/*
 * A node's first answer, the status of our handshake. 1: the node has, or is making, another
 * connection with our name. -1: not an answer of a node.
 */
int frame_status(const char *bytes, size_t len);

/* Answers to a tick and to an unlink, whole or not at all. -1: the connection has ended, or does
 * not take it within ms. */
int frame_tick(int fd, int ms);
int frame_unlinked(int fd, const struct frame_message *m, int ms);

#endif
