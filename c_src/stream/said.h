/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a stream has said the text of: addresses in each form that they are printed in, and terms of
 * processes. The writer remembers that it has, the reader the text.
 */
#ifndef STREAM_NAMES_H
#define STREAM_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ST_NAMES = 1 << 16, ST_PROCESS = 0xff /* instead of an enum sy_form */ };

struct st_name {
	uint64_t of;
	char *text; /* of the reader */
	uint8_t form;
	bool used;
};
struct st_names {
	struct st_name *v;
	size_t n, room; /* room: a power of two */
};

const struct st_name *st_name(const struct st_names *ns, uint64_t of, uint8_t form);
/* The text is copied. false: out of memory. It must not be there, and not more than ST_NAMES be. */
bool st_name_add(struct st_names *ns, uint64_t of, uint8_t form, const char *text, size_t len);
void st_names_free(struct st_names *ns); /* it can be used again, and is empty */

#endif
