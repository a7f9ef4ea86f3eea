/* SPDX-License-Identifier: Apache-2.0 */
/*
 * erltrace web: the live page. One process, one poll loop, no threads.
 *
 *   web_main.c      options, paths, the address; start and end
 *   arguments.c     what is wrong with an option: for erltrace serve too
 *   server.c        libwebsockets: HTTP, headers, files; who may open a web socket
 *   auth.c          token, cookies, Host, Origin
 *   conn_limit.c    bounds on connections of those who have not logged in
 *   session.c       one web socket: messages in, a bounded queue out
 *   script_child.c  child processes: one for each script or question; their lines, their end
 *   child_process.c how they are started
 *   pack.c          ticks in a compact form, for pages that ask for it
 *   assets.c        the page, and the scripts of the menu
 *   node_names.c    which nodes the page may name
 *   list_nodes.c    which nodes there are: in a child, as a node may be slow to answer;
 *                   list_no_nodes.c replaces it where there is no libei
 *   log.c           the audit log; rate limits
 *
 * Every script of a browser is a child that runs this same command (--json --live). A child that
 * is killed leaves nothing behind on the node, so a script is ended by killing its child: when the
 * socket closes, when it is stopped, at its time limit, and by the kernel when this process dies.
 *
 * A slow reader costs no memory: while the queue of a socket is long, its children are not read.
 * They block, and what they would have sent adds up in the node, to be sent at once.
 *
 * This header has the state of the server, which all its files share.
 */
#ifndef WEB_H
#define WEB_H

#include <jansson.h>
#include <libwebsockets.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "assets.h"
#include "auth.h"
#include "log.h"
#include "web_limits.h"

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

struct web {
	struct web_opts o;
	struct lws_context *context;
	struct lws_vhost *vhost;
	int port; /* that we listen on */
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
	struct conn_entry *conns; /* connections, the newest first */
};

int web_main(int argc, char **argv);

#endif
