/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets for ei_connect_xinit_ussi(): what greets us is not believed (greet.c). EBADMSG: it is no
 * node; ENOTCONN: it has hung up before it could know whether we know its cookie; EPERM: it is
 * somebody who must not get an answer. */
#ifndef NODE_GREET_H
#define NODE_GREET_H

#include "node.h"

struct peer;

/* What the setup argument of ei_connect_xinit_ussi() points to, while it connects. */
struct greet_whom {
	const struct peer *peer;
	struct et_error *e;
	bool refused; /* EPERM: why is in e */
};
extern ei_socket_callbacks greet_sockets;

#endif
