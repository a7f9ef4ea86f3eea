/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which process or user owns a port: may a handshake go there? Errors: ET_OTHER, it is not one of
 * the nodes that are meant; ET_OWNER, it is, but belongs to a user who must not learn the cookie.
 */
#ifndef NODE_PORT_OWNER_H
#define NODE_PORT_OWNER_H

#include <netinet/in.h>
#include <stdbool.h>
#include <sys/types.h>

#include "cookie.h"

/* Which nodes are acceptable. */
struct nd_accept {
	bool found;	   /* the user has not named it: it must belong to the cookie's owner */
	const pid_t *pids; /* it must be one of these processes; */
	int npids;	   /* 0: any */
	/* A node is slow to answer, and still waited for; or NULL. */
	void (*waits)(void *arg, const char *name);
	void *arg;
};

/* A node, and what must hold before it gets a handshake. */
struct port_check {
	const char *name;
	const struct nd_cookie *cookie;
	const struct nd_accept *accept;
};

/* Who listens on a port; asked before connecting. Ports of other machines cannot be checked: 0. */
int port_check_listener(
	const struct port_check *p, struct in_addr addr, int port, struct et_error *e);
/* Who is at the other end of a connection that has sent bytes, and so has accepted it. */
int port_check_peer(const struct port_check *p, int fd, struct et_error *e);
/* The process at the other end of a connection; 0: of another machine, or it cannot be seen. */
pid_t nd_peer_process(int fd);

bool nd_is_here(struct in_addr addr); /* an address of this machine */
const char *nd_user(uid_t uid, char *to, size_t size); /* "user joe"; returns to */

#endif
