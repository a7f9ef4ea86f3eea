/* SPDX-License-Identifier: Apache-2.0 */
/* A description of a script that matches no probe of a node so far. */
#ifndef CLIENT_UNMATCHED_H
#define CLIENT_UNMATCHED_H

struct client_unmatched {
	int line, column;
	char *text; /* a sentence about why */
};

#endif
