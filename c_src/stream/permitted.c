/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What programs of streams may do on the machine of the reader. A node says what its program is,
 * and it may lie: system() and freopen() have a format that the reader's user permits, byte for
 * byte, and the text is made here, of that format. A value of %s can be anything; one of %d is a
 * number.
 */
#include "permitted.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "consume/format.h"
#include "prog/prog.h"

static const struct {
	const char *name;
	enum d_bact act;
} acts[] = {{"system", ACT_SYSTEM}, {"freopen", ACT_FREOPEN}, {"ftruncate", ACT_FTRUNCATE}};
enum { ACTS = sizeof(acts) / sizeof(*acts) };

int st_permit(struct st_permits *p, const char *action, const char *format)
{
	struct st_permit new = {.act = ACT_COUNT_};

	for (int i = 0; i < ACTS; i++)
		if (strcmp(acts[i].name, action) == 0)
			new.act = acts[i].act;
	if (new.act == ACT_COUNT_ || (new.act != ACT_FTRUNCATE && format == NULL))
		return -EINVAL;
	if (format != NULL && (new.format = strdup(format)) == NULL)
		return -ENOMEM;
	if (!ARRAY_ROOM(p->v, p->n)) {
		free(new.format);
		return -ENOMEM;
	}
	p->v[p->n++] = new;
	return 0;
}

void st_permits_free(struct st_permits *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->v[i].format);
	free(p->v);
	*p = (struct st_permits){.n = 0};
}

/* What is behind a NUL is neither run nor part of a file's name. */
static bool same_format(const char *permitted, const struct d_fmt *f)
{
	return permitted == NULL ? f == NULL : f != NULL && strcmp(permitted, f->source) == 0;
}

static bool permits(const struct st_permits *p, const struct prog_action *a)
{
	bool here = false, found = false;

	for (int i = 0; i < ACTS; i++)
		here |= a->act == acts[i].act;
	for (size_t i = 0; here && i < p->n && !found; i++)
		found = p->v[i].act == a->act && same_format(p->v[i].format, a->fmt);
	return !here || (found && (a->fmt == NULL || fm_suits(a->fmt, a->vals, a->nvals)));
}

bool st_is_permitted(const struct st_permits *p, const struct prog *prog)
{
	for (unsigned i = 0; i < prog->nclauses; i++)
		for (unsigned k = 0; k < prog->clauses[i]->nactions; k++)
			if (!permits(p, &prog->clauses[i]->actions[k]))
				return false;
	return true;
}
