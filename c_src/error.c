/* SPDX-License-Identifier: Apache-2.0 */
/* Filling in error values; see error.h. */
#include "error.h"

#include <stdio.h>
#include <string.h>

static const struct {
	const char *name, *meaning;
	bool lasts;
} tags[ET_TAGS_] = {
#define ERROR_TAG(tag, meaning)	  {#tag, meaning, #tag[0] == 'D'},
#define ERROR_LASTS(tag, meaning) {#tag, meaning, true},
#include "errors.def"
};

const char *et_tag_name(enum et_tag tag)
{
	return tags[tag].name;
}

const char *et_tag_meaning(enum et_tag tag)
{
	return tags[tag].meaning;
}

bool et_tag_lasts(const char *name)
{
	for (unsigned i = 0; i < ET_TAGS_; i++)
		if (strcmp(tags[i].name, name) == 0)
			return tags[i].lasts;
	return false;
}

bool et_err_is(const struct et_error *e, enum et_tag tag)
{
	return strcmp(e->tag, tags[tag].name) == 0;
}

static int fill(struct et_error *e, const char *tag, const char *fmt, va_list ap)
{
	if (e == NULL || e->tag[0] != '\0')
		return -1;
	snprintf(e->tag, sizeof(e->tag), "%s", tag);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	return -1;
}

int et_verr(struct et_error *e, enum et_tag tag, const char *fmt, va_list ap)
{
	return fill(e, tags[tag].name, fmt, ap);
}

int et_err(struct et_error *e, enum et_tag tag, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fill(e, tags[tag].name, fmt, ap);
	va_end(ap);
	return -1;
}

int et_err_as(struct et_error *e, const struct et_error *cause, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	fill(e, cause->tag, fmt, ap);
	va_end(ap);
	return -1;
}

void et_err_clear(struct et_error *e)
{
	memset(e, 0, sizeof(*e));
}
