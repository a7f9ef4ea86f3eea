/* SPDX-License-Identifier: Apache-2.0 */
/* The cookie that proves to a node that we may connect. */
#ifndef NODE_COOKIE_H
#define NODE_COOKIE_H

#include <sys/types.h>

#include "error.h"

enum { ND_COOKIE = 512, ND_PATH = 4096 };

struct nd_cookie {
	char text[ND_COOKIE];
	char file[ND_PATH]; /* where it was read */
	uid_t owner;	    /* of that file: this user knows the cookie anyway */
};

/* From a file; NULL: $ERL_COOKIE_FILE, then the files that erl reads. */
int nd_cookie(const char *file, struct nd_cookie *cookie, struct et_error *e);
int nd_read_cookie(int fd, struct nd_cookie *cookie, struct et_error *e); /* fd < 0: errno */

#endif
