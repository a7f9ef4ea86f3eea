/* SPDX-License-Identifier: Apache-2.0 */
/* Sockets for ei_connect_xinit_ussi(): what greets us is not believed (greet.c). EBADMSG: it is no
 * node; ENOTCONN: it has hung up before it could know whether we know its cookie. */
#ifndef NODE_GREET_H
#define NODE_GREET_H

#include "node.h"

#ifdef HAVE_EI
extern ei_socket_callbacks greet_sockets;
#endif

#endif
