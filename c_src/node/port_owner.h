/* SPDX-License-Identifier: Apache-2.0 */
/* May it be greeted? (peer.c) Both leave the reason in e: ET_OTHER: it is none of those that are
 * meant; ET_OWNER: it is, but of a user whom the cookie is not for. */
#ifndef NODE_PEER_H
#define NODE_PEER_H

#include "connection.h"

struct peer {
	const char *name;
	const struct nd_cookie *cookie;
	const struct nd_whom *whom;
};

/* Who listens there, asked before connecting. Other machines' ports cannot be judged: 0. */
int peer_listens(const struct peer *p, struct in_addr addr, int port, struct et_error *e);
/* Who is at the other end of a connection that has brought bytes, and so has been accepted. */
int peer_answers(const struct peer *p, int fd, struct et_error *e);

#endif
