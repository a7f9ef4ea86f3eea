/* SPDX-License-Identifier: Apache-2.0 */
/*
 * erltrace web: the live page. One process, one poll loop, a thread for each run.
 *
 *   web_main.c      options, paths, the address; start and end
 *   arguments.c     what is wrong with an option: for erltrace serve too
 *   server.c        libwebsockets: HTTP, headers, files; who may open a web socket
 *   auth.c          token, cookies, Host, Origin
 *   conn_limit.c    bounds on connections of those who have not logged in
 *   session.c       one web socket: messages in, a bounded queue out
 *   script_run.c    runs: one for each script or question; their lines, their end
 *   pack.c          ticks in a compact form, for pages that ask for it
 *   assets.c        the page, and the scripts of the menu
 *   node_names.c    which nodes the page may name
 *   list_nodes.c    which nodes there are: by a thread, as a node may be slow to answer;
 *                   list_no_nodes.c replaces it where there is no libei
 *   log.c           the audit log; rate limits
 *
 * Every script of a browser is what the command runs (--json --live), by a thread. When the socket
 * closes its connections to the nodes are closed, which ends the script there; the kernel closes
 * them when this process dies.
 *
 * A slow reader costs no memory: while the queue of a socket is long, the lines of its runs are not
 * taken. Their threads wait, and what would have been sent adds up, to be sent at once.
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
	const char *kernel_node; /* whose helper traces the kernel; NULL: this process does */
	int run_seconds;
};

struct web {
	struct web_opts o;
	struct lws_context *context;
	struct lws_vhost *vhost;
	int port; /* that we listen on */
	FILE *log;
	bool log_fails;
	int events; /* an epoll of what wakes the loop but for HTTP, watched by lws */
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
