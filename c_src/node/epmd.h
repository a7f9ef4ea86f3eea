/* SPDX-License-Identifier: Apache-2.0 */
/* The nodes that epmd knows. */
#ifndef NODE_EPMD_H
#define NODE_EPMD_H

#include <netinet/in.h>
#include <stdbool.h>

#include "error.h"

enum { ND_NAME = 256 };

struct nd_name {
	char name[ND_NAME]; /* without the host */
	int port;
};

struct nd_names {
	struct nd_name *v;
	int n;
};

/* The nodes registered with the epmd of a host; NULL: of this machine. */
int nd_names(const char *host, struct nd_names *names, struct et_error *e);
void nd_names_free(struct nd_names *names);
bool nd_is_name(const char *name); /* can a node have it? */
/* IPv4, in network order; NULL and this machine's own names: loopback. */
int nd_address(const char *host, struct in_addr *addr, struct et_error *e);

#endif
