/* SPDX-License-Identifier: Apache-2.0 */
/* A hash table with open addressing, at most half full; nothing is ever taken out of it. */
#include "said.h"

#include <stdlib.h>
#include <string.h>

static size_t place(const struct st_names *ns, uint64_t of, uint8_t form)
{
	uint64_t h = (of ^ (uint64_t)form << 56) * UINT64_C(0x9fb21c651e98df25);
	size_t i = (size_t)(h ^ h >> 32) & (ns->room - 1);

	while (ns->v[i].used && (ns->v[i].of != of || ns->v[i].form != form))
		i = (i + 1) & (ns->room - 1);
	return i;
}

const struct st_name *st_name(const struct st_names *ns, uint64_t of, uint8_t form)
{
	size_t i;

	if (ns->room == 0)
		return NULL;
	i = place(ns, of, form);
	return ns->v[i].used ? &ns->v[i] : NULL;
}

static bool grow(struct st_names *ns)
{
	struct st_names more = {.n = ns->n, .room = ns->room > 0 ? 2 * ns->room : 64};

	more.v = calloc(more.room, sizeof(*more.v));
	if (more.v == NULL)
		return false;
	for (size_t i = 0; i < ns->room; i++)
		if (ns->v[i].used)
			more.v[place(&more, ns->v[i].of, ns->v[i].form)] = ns->v[i];
	free(ns->v);
	*ns = more;
	return true;
}

bool st_name_add(struct st_names *ns, uint64_t of, uint8_t form, const char *text, size_t len)
{
	char *copy = NULL;

	if (2 * (ns->n + 1) > ns->room && !grow(ns))
		return false;
	if (text != NULL && (copy = strndup(text, len)) == NULL)
		return false;
	ns->v[place(ns, of, form)] =
		(struct st_name){.of = of, .text = copy, .form = form, .used = true};
	ns->n++;
	return true;
}

void st_names_free(struct st_names *ns)
{
	for (size_t i = 0; i < ns->room; i++)
		free(ns->v[i].text);
	free(ns->v);
	*ns = (struct st_names){0};
}
