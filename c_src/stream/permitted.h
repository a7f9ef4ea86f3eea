/* SPDX-License-Identifier: Apache-2.0 */
/* What programs of streams may do on the machine of the reader: run programs, write files. */
#ifndef STREAM_PERMITTED_H
#define STREAM_PERMITTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct prog;

struct st_permits {
	struct st_permit {
		uint16_t act;
		char *format; /* NULL: the action has none */
	} *v;
	size_t n;
};

/* By its name; format NULL: it has none. 0; -EINVAL: there is no such action here; -ENOMEM. */
int st_permit(struct st_permits *p, const char *action, const char *format);
bool st_is_permitted(const struct st_permits *p, const struct prog *prog); /* all it does here */
void st_permits_free(struct st_permits *p);

#endif
