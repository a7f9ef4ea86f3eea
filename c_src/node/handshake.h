/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sockets for ei_connect_xinit_ussi(), which check what the other side sends. Errors: EBADMSG, it
 * is no node; ENOTCONN, it hung up before it could tell whether we know its cookie; EPERM, it must
 * not get an answer to its challenge.
 *
 */
#ifndef NODE_HANDSHAKE_H
#define NODE_HANDSHAKE_H

#include <ei.h>

#include "port_owner.h"

/* What the setup argument of ei_connect_xinit_ussi() points to, while it connects. */
struct handshake_check {
	const struct port_check *port;
	struct et_error *e;
	bool refused; /* EPERM: the reason is in e */
	bool tls;     /* what answers speaks TLS */
	bool taken;   /* somebody else is connected by our name */
	bool slow;    /* that it is waited for has been told */
};
extern ei_socket_callbacks handshake_sockets;

#endif
