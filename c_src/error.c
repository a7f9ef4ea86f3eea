/* SPDX-License-Identifier: Apache-2.0 */
/* Filling in error values; see error.h. */
#include "error.h"

#include <stdio.h>
#include <string.h>

int et_verr(struct et_error *e, const char *tag, const char *fmt, va_list ap)
{
	if (e == NULL || e->tag[0] != '\0')
		return -1;
	snprintf(e->tag, sizeof(e->tag), "%s", tag);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	return -1;
}

int et_err(struct et_error *e, const char *tag, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	et_verr(e, tag, fmt, ap);
	va_end(ap);
	return -1;
}

void et_err_clear(struct et_error *e)
{
	memset(e, 0, sizeof(*e));
}
