/* SPDX-License-Identifier: Apache-2.0 */
/*
 * erltrace web: the live page. A server of its own process, one poll loop, no threads.
 *
 *   main.c     options, where files are, the address; start and end
 *   server.c   libwebsockets: http, headers, files; who may open a web socket
 *   auth.c     token, cookies, Host, Origin; how often
 *   peers.c    connections of those who are not known: how many, and which has to go
 *   session.c  one web socket: messages in, a bounded queue out
 *   run.c      child processes: a script each, or a question; their lines; their end
 *   pack.c     ticks made small, for pages that ask for it
 *   library.c  the scripts of the menu
 *   nodes.c    which nodes the page may name
 *   list_nodes.c  which there are: asked by a child, for it may take its time; list_no_nodes.c
 *              is instead of it where there is no libei
 *   log.c      the audit log
 *
 * Every script of a browser is a child that runs this same command (--json --live). A child that
 * is killed leaves nothing on the node, so to end a script is to kill its child: when the socket
 * closes, when it is stopped, at its limit, and by the kernel when this process dies.
 *
 * Nobody's slowness costs memory: while a socket's queue is long its children are not read, they
 * block, and what they would have told adds up in the node, to be told at once.
 */
#ifndef WEB_H
#define WEB_H

#include <jansson.h>
#include <libwebsockets.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <sys/uio.h>

enum {
	WEB_PORT = 8042,
	WEB_MAX_SCRIPT = 64 << 10,  /* bytes of a script */
	WEB_MAX_MESSAGE = 512 << 10, /* a script with every byte escaped, and what is around it */
	WEB_MAX_BODY = 1024,	    /* of POST /login */
	WEB_MAX_LINE = 4 << 20,	    /* of a child */
	WEB_MAX_FDS = 512,	    /* connections; children have others */
	WEB_STRANGERS = 256,	    /* connections of those who have not logged in, */
	WEB_PEER_STRANGERS = 64,    /* of one address */
	WEB_USER_CONNS = 16,	    /* of one user, that no stranger displaces */
	WEB_MAX_LIBRARY = 4 << 20,  /* bytes of all scripts of the menu */
	WEB_MAX_USERS = 64,	    /* cookies at once */
	WEB_MAX_SOCKETS = 32,	    /* in all */
	WEB_USER_SOCKETS = 8,
	WEB_MAX_RUNS = 64,	    /* in all */
	WEB_USER_RUNS = 8,
	WEB_MAX_ARGS = 32,
	WEB_MAX_NODES = 64,
	WEB_MAX_PROBES = 200,	    /* of an answer */
	WEB_RUN_SECONDS = 3600,
	WEB_COMPILES = 30,	    /* at once; then one each two seconds */
	WEB_ALL_COMPILES = 120,	    /* of all users; then two a second */
	WEB_QUESTIONS = 60,	    /* nodes, probes: at once; then five a second */
	WEB_LOGINS = 20,	    /* wrong ones; then one each six seconds */
	WEB_REFUSALS = 50,	    /* lines of the log; then one each ten seconds, with a count */
	WEB_PING_S = 1,
	WEB_HANGUP_S = 4,	    /* a script is off 5 s after the cable was cut */
	WEB_SEND_BUFFER = 64 << 10, /* the kernel's: a ping waits behind what is in it */
	WEB_QUEUE_STOP = 256 << 10, /* bytes waiting: children are not read any more */
	WEB_QUEUE_GO = 64 << 10,    /* now they are again */
	WEB_QUEUE_MAX = 8 << 20,    /* the socket is closed */
	WEB_GRACE_MS = 3000,	    /* after stop, for END and the last aggregations */
};

#define WEB_DIGEST 32 /* bytes of SHA-256 */
#define WEB_HEX	   (2 * WEB_DIGEST + 1)

/* ---- options ---------------------------------------------------------------------------- */

struct web_opts {
	const char *nodes[WEB_MAX_NODES];
	int nnodes;
	const char *hosts[16]; /* --host: names under which browsers may ask */
	int nhosts;
	int port;
	const char *bind, *cookie_file, *token_file, *log;
	const char *tls_cert, *tls_key;
	char scripts[4096], pages[4096];
	bool until_eof, kernel;
	int run_seconds;
};

/* How often something may be done: n at once, then one each ms. */
struct web_rate {
	int n, left, each_ms;
	int64_t at;
};

/* What strangers make us log: so many lines, and how many there would have been more. */
struct web_told {
	struct web_rate rate;
	unsigned long more;
};

/* Who has logged in: one that holds a cookie. */
struct web_user {
	unsigned number; /* 0: free */
	uint8_t digest[WEB_DIGEST];
	int64_t at;
	struct web_rate compiles, questions;
};

struct web_file {
	char *name, *text;
	size_t len;
	const char *type;
	char etag[20];
	struct web_file *next;
};

struct web {
	struct web_opts o;
	struct lws_context *context;
	struct lws_vhost *vhost;
	int port; /* the one we have */
	FILE *log;
	bool log_fails;
	int children; /* an epoll of the children's pipes, watched by lws */
	bool ending;
	uint8_t token[WEB_DIGEST]; /* its digest */
	char token_text[256];
	struct web_rate logins, compiles;
	struct web_told refusals, displaced;
	struct web_user users[WEB_MAX_USERS];
	unsigned user_number;
	struct web_file *files;
	struct session *sessions;
	struct run *runs;
	struct peer *peers; /* connections, the newest first */
};

/* ---- main.c, log.c ---------------------------------------------------------------------- */

int web_main(int argc, char **argv);
int64_t web_ms(void); /* monotonic */
void web_log(struct web *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A line as far as somebody can read them; the others are counted, and told by the next. */
void web_tell(struct web *w, struct web_told *t, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void web_tell_more(struct web *w); /* at the end: what has been counted */
void web_plain(char *text, size_t len); /* what is no UTF-8 becomes '?', in its place */
void web_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
bool web_allowed(struct web_rate *r); /* takes one */

/* ---- server.c --------------------------------------------------------------------------- */

int web_open(struct web *w); /* 0, or -1 with a message said */
void web_serve(struct web *w);
void web_close(struct web *w);

/* ---- peers.c ---------------------------------------------------------------------------- */

void peer_came(struct web *w, struct lws *wsi); /* a connection; one of the others may have to go */
void peer_known(struct web *w, struct lws *wsi, const struct web_user *u); /* it is a user's */
void peer_gone(struct web *w, struct lws *wsi);

/* ---- auth.c ----------------------------------------------------------------------------- */

int web_token(struct web *w); /* made, or read from the file */
void web_digest(const void *p, size_t len, uint8_t out[WEB_DIGEST]);
void web_hex(const void *p, size_t len, char *out);
bool web_is_token(const struct web *w, const char *text, size_t len);
int web_random(char out[WEB_HEX]);
bool web_is_loopback(const char *address);
struct web_user *web_login(struct web *w, char cookie[WEB_HEX]); /* NULL: no room */
struct web_user *web_user_of(struct web *w, const char *cookies);
void web_cookie_name(const struct web *w, char *name, size_t size);
bool web_host_ok(const struct web *w, const char *host);
bool web_origin_ok(const struct web *w, const char *origin, const char *host);

/* ---- library.c, nodes.c, list_nodes.c ---------------------------------------------------- */

json_t *web_library(const char *folder); /* an array of {name, title, text} */
int web_load_pages(struct web *w);
void web_free_pages(struct web *w);
int web_list_nodes(const struct web_opts *o); /* in a child: one line of JSON */
bool web_is_node_name(const struct web *w, const char *name);

/* ---- session.c -------------------------------------------------------------------------- */

struct session *session_new(struct web *w, struct lws *wsi, struct web_user *u, const char *peer);
void session_free(struct session *s); /* its children are killed */
int session_receive(struct session *s, const char *p, size_t len, bool last); /* -1: close */
int session_write(struct session *s); /* lws says that there is room. -1: close */
void session_sendv(struct session *s, const struct iovec *v, int n); /* one message, text */
void session_send_bytes(struct session *s, const void *p, size_t len);
void session_send_json(struct session *s, json_t *j); /* takes the reference */
void session_error(struct session *s, json_int_t id, int code, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
bool session_is_full(const struct session *s);
unsigned session_count(const struct web *w, const struct web_user *u); /* u NULL: all */
struct web *session_web(const struct session *s);
const struct web_user *session_user(const struct session *s);
const char *session_peer(const struct session *s);

/* ---- run.c ------------------------------------------------------------------------------ */

enum run_kind { RUN_SCRIPT, RUN_NODES, RUN_PROBES };

struct run_spec {
	enum run_kind kind;
	json_int_t id;
	const char *nodes[WEB_MAX_NODES];
	int nnodes; /* 0: all */
	const char *args[WEB_MAX_ARGS];
	int nargs;
	const char *script; /* or the description of probes */
	size_t len;
	const char *asked; /* probes: the text as it came */
	int hz;
	bool packed; /* ticks as of pack.h */
};

int run_start(struct session *s, const struct run_spec *spec);
void run_stop(struct session *s, json_int_t id);
bool run_is(const struct session *s, json_int_t id);
unsigned run_count(const struct web *w, const struct web_user *u);
void run_end_kind(struct session *s, enum run_kind kind); /* questions that nobody asks any more */
void run_end_all(struct session *s);
void run_resume(struct session *s); /* its queue has room again */
void run_events(struct web *w);	    /* the epoll has something */
int run_watch_end(struct web *w);   /* signals, and with --until-eof the end of stdin */
void run_free_all(struct web *w);

#endif
