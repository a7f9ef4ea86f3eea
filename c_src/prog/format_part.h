/* SPDX-License-Identifier: Apache-2.0 */
/* The text of a printf() format, part by part. */
#ifndef PROG_FORMAT_PART_H
#define PROG_FORMAT_PART_H

#include "prog.h"

enum { FORMAT_MAX_WIDTH = 4096 };

/*
 * The part at s, which is before end: text, and the conversion behind it if there is one. Returns
 * the end of the part. NULL: *at is a percent sign without a conversion, and *why says so.
 */
const char *format_part(const char *s, const char *end, struct d_fmtpart *p, const char **at,
	const char **why);
/* How many arguments a part takes. */
unsigned format_part_args(const struct d_fmtpart *p);

#endif
