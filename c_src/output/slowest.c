/* SPDX-License-Identifier: Apache-2.0 */
#include "flow_model.h"

#include <stdlib.h>

#include "array.h"

static uint64_t elapsed(const struct flow *f)
{
	return f->end - f->start;
}

/* The place for it: of the fastest, where there is no room. NULL: it is as fast as that, or faster.
 */
static struct flow **place(struct slowest *s, const struct flow *f, size_t most)
{
	size_t least = 0;

	if (s->n < most && ARRAY_ROOM(s->v, s->n)) {
		s->v[s->n] = NULL;
		return &s->v[s->n++];
	}
	s->left_out++;
	for (size_t i = 1; i < s->n; i++)
		if (elapsed(s->v[i]) < elapsed(s->v[least]))
			least = i;
	return s->n > 0 && elapsed(f) > elapsed(s->v[least]) ? &s->v[least] : NULL;
}

void slowest_add(struct slowest *s, struct flow *f, size_t most)
{
	struct flow **at = place(s, f, most);

	if (at == NULL)
		return;
	flow_free(*at);
	*at = f;
	f->kept++;
}

void slowest_clear(struct slowest *s)
{
	for (size_t i = 0; i < s->n; i++)
		flow_free(s->v[i]);
	free(s->v);
	s->v = NULL;
	s->n = 0;
}
