/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reaching Erlang nodes from outside, as a hidden C node (OTP's ei).
 *
 *   find.c    who is there: epmd's names; the cookie
 *   process.c a node that is named by its process, maybe in a container
 *   peer.c    whose a port is: who may be greeted
 *   node.c    a connection: rpc, messages, ticks
 *   greet.c   the sockets that ei greets with, which believe nobody
 *   frame.c   what comes over it, frame by frame
 *   term.c    terms that somebody else wrote: looked through before ei decodes them
 *   agent.c   erltrace's modules and library into a node that does not have them
 *   places.c  where this command and what belongs to it are
 *
 * Nothing here prints or exits: 0 or a negative number, and a filled struct et_error. A
 * connection belongs to one thread. ei has no use for signals; a call that a signal interrupts
 * says so where the caller wants to know.
 */
#ifndef NODE_H
#define NODE_H

#include <ei.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "error.h"
#include "frame.h"

enum { ND_NAME = 256, ND_COOKIE = 512, ND_PATH = 4096 };

/* ---- find.c ---------------------------------------------------------------------------- */

struct nd_name {
	char name[ND_NAME]; /* without the host */
	int port;
};

struct nd_names {
	struct nd_name *v;
	int n;
};

/* The nodes that the epmd of a host names; NULL: this machine's. */
int nd_names(const char *host, struct nd_names *names, struct et_error *e);
void nd_names_free(struct nd_names *names);
bool nd_is_name(const char *name); /* can a node have it? */
/* IPv4, in network order; NULL and this machine's own names: loopback. */
int nd_address(const char *host, struct in_addr *addr, struct et_error *e);

struct nd_cookie {
	char text[ND_COOKIE];
	char file[ND_PATH]; /* where it was read */
	uid_t owner;	    /* of that: who knows it anyway */
};

/* From a file; NULL: $ERL_COOKIE_FILE, then the files that erl reads. */
int nd_cookie(const char *file, struct nd_cookie *cookie, struct et_error *e);
int nd_read_cookie(int fd, struct nd_cookie *cookie, struct et_error *e); /* fd < 0: errno */

/* ---- process.c ------------------------------------------------------------------------- */

/* Into the network that a process has, if it is another; its epmd's port is then ours. */
int nd_enter(pid_t pid, struct et_error *e);
bool nd_may_enter(pid_t pid); /* false: where it is cannot even be seen */
/* The number by which it knows itself. */
int64_t nd_own_pid(pid_t pid);
/* The cookie that it was started with; false: not to be found, or not for us to read. */
bool nd_cookie_of(pid_t pid, struct nd_cookie *cookie);

/* ---- peer.c ---------------------------------------------------------------------------- */

/* Whom we speak to: others are not greeted, and get no connection. */
struct nd_whom {
	bool found;	   /* nobody has named it: only a node of the cookie's owner is meant */
	const pid_t *pids; /* one of these processes it must be; */
	int npids;	   /* 0: any */
};
bool nd_is_here(struct in_addr addr); /* an address of this machine */
const char *nd_user(uid_t uid, char *to, size_t size); /* "user joe"; returns to */

/* ---- node.c ---------------------------------------------------------------------------- */

struct nd {
	ei_cnode ec;
	int fd;		    /* -1: gone */
	bool hung_up;	    /* nothing can be sent any more */
	struct frame frame; /* that is coming */
	size_t begun;	    /* of it, bytes, */
	int64_t begun_at;   /* ms: since then */
	char name[ND_NAME]; /* "demo@host", as it calls itself */
	int64_t ospid;
	char otp[16], arch[128]; /* "25", "x86_64-pc-linux-gnu" */
	struct nd_kept *kept;	 /* messages that came before the answer to a call */
	ei_x_buff connection;	 /* the node's port for it, as a term */
	bool has_agent;		 /* of its own: an erltrace in its path */
	bool came;		 /* what was brought stays for us */
};

/* name: alive name, or name@host; port 0: ask epmd. Free with nd_close(). ET_OTHER: it is none of
 * those that are meant. */
struct nd *nd_connect(const char *name, int port, const struct nd_cookie *cookie,
	const struct nd_whom *whom, struct et_error *e);
void nd_close(struct nd *n);

/*
 * Apply mod:fun to args, a list without version byte. The result, at result->index, is valid
 * until the buffer is used again. Messages that are no answer are kept for nd_receive().
 */
int nd_rpc(struct nd *n, const char *mod, const char *fun, const ei_x_buff *args, ei_x_buff *result,
	struct et_error *e);
/*
 * Several calls in one, in their order, up to one that fails: a busy node takes its time for each. The
 * results, as many as there are calls, follow each other at result->index.
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

/*
 * Decoding, for terms that an agent sent: -1 where the term is something else. They were looked
 * through when they came and end in zeros, so ei's decoders of headers, numbers, strings and
 * processes stay inside them; ei_skip_term() and its decoders of atoms are not for them.
 */
int nd_get_tuple(const ei_x_buff *x, int *at, int arity);
int nd_get_text(const ei_x_buff *x, int *at, const char **text, long *len); /* a binary */
int nd_get_atom(const ei_x_buff *x, int *at, char *atom, size_t size);
int nd_skip(const ei_x_buff *x, int *at); /* any */
int nd_put_text(ei_x_buff *x, const char *text);

/* ---- agent.c --------------------------------------------------------------------------- */

/* Has the node erltrace's agent, of its own or brought by another command? Else bring it. It stays
 * until nd_agent_gone(), or until the connection ends. */
int nd_agent(struct nd *n, struct et_error *e);
/* It is not needed any more. If it was brought, and if nobody else needs it, it has been taken out
 * when this returns. */
void nd_agent_gone(struct nd *n);

#endif
