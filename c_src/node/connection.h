/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reaching Erlang nodes from outside, as a hidden C node (OTP's ei).
 *
 *   epmd.c        the nodes that epmd knows
 *   cookie.c      the cookie
 *   process.c     a node that is named by its process, maybe in a container
 *   port_owner.c  which process or user owns a port: may a handshake go there?
 *   connection.c  a connection: remote calls, messages, ticks
 *   handshake.c   the sockets that ei does its handshake on, with every packet checked
 *   cancel.c      waits that another thread can end
 *   frame.c       what a connection brings, frame by frame
 *   etf.c         terms of others: validated before ei decodes them
 *   decode.c      decoding of validated terms
 *   agent.c       loads erltrace's modules and library into a node that does not have them
 *   otp_modules.c and those of OTP that it needs and that the node has not loaded
 *   room.c        has the node room for them?
 *   paths.c       where this command and what belongs to it are installed
 *
 * Nothing here prints or exits: functions return 0 or a negative number, and fill a struct
 * et_error. A connection belongs to one thread. A call that a signal interrupts says so where the
 * caller wants to know.
 */
#ifndef NODE_CONNECTION_H
#define NODE_CONNECTION_H

#include <ei.h>
#include <stdbool.h>
#include <stdint.h>

#include "cookie.h"
#include "epmd.h"
#include "frame.h"
#include "port_owner.h"

struct nd {
	ei_cnode ec;
	int fd;		    /* -1: gone */
	bool hung_up;	    /* nothing can be sent any more */
	bool slow;	    /* connecting takes long, and that has been told */
	struct frame frame; /* that is coming */
	size_t begun;	    /* of it, bytes, */
	int64_t begun_at;   /* ms: since then */
	char name[ND_NAME]; /* "demo@host", as it calls itself */
	int64_t ospid;
	char otp[16], arch[128]; /* "25", "x86_64-pc-linux-gnu" */
	struct nd_kept *kept;	 /* messages that came before the answer to a call */
	ei_x_buff connection;	 /* the node's port for it, as a term */
	long long atoms_left;	 /* until its table is full, and it dies */
	bool has_agent;		 /* of its own: an erltrace in its path */
	bool came;		 /* the loaded agent stays for us */
};

/* name: alive name, or name@host; port 0: ask epmd. Free with nd_close(). ET_OTHER: it is none of
 * the nodes that are meant. */
struct nd *nd_connect(const char *name, int port, const struct nd_cookie *cookie,
	const struct nd_accept *accept, struct et_error *e);
/* Without a word: one that hangs would not answer. */
void nd_hang_up(struct nd *n);
void nd_close(struct nd *n);

/*
 * Apply mod:fun to args, a list without version byte. The result, at result->index, is valid
 * until the buffer is used again. Messages that are no answer are kept for nd_receive().
 */
int nd_rpc(struct nd *n, const char *mod, const char *fun, const ei_x_buff *args, ei_x_buff *result,
	struct et_error *e);
/* The same where it may take for ever, as what reads files: after ms it fails with ET_TIMEOUT. */
int nd_rpc_within(struct nd *n, int ms, const char *mod, const char *fun, const ei_x_buff *args,
	ei_x_buff *result, struct et_error *e);
/*
 * Several calls in one, in their order, up to one that fails: a busy node takes its time for each.
 * The results, as many as there are calls, follow each other at result->index.
 *
 */
struct nd_calls {
	ei_x_buff mods, funs, args; /* of the calls added */
	int n;
};
void nd_calls_add(struct nd_calls *c, const char *mod, const char *fun, const ei_x_buff *args);
int nd_calls(struct nd *n, struct nd_calls *c, ei_x_buff *result, struct et_error *e); /* frees c */
int nd_send(struct nd *n, const erlang_pid *to, const ei_x_buff *msg, struct et_error *e);
int nd_send_atom(struct nd *n, const erlang_pid *to, const char *atom, struct et_error *e);
/* The next message, its term at msg->index: 1; 0: none within ms, or a signal; -1: the node is
 * gone. */
int nd_receive(struct nd *n, ei_x_buff *msg, int ms, struct et_error *e);
/* Is there one that has come already? Then poll() on the socket may wait in vain. */
bool nd_waiting(const struct nd *n);

#endif
