/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Strings. To bytecode a string is an opaque reference of 64 bits: with bit 63 set, the address of
 * an interned struct et_str; else the address of strsize bytes of the engine's own memory, which a
 * NUL ends; 0 is NULL. A variable that is NULL is such memory with a mark (rt_str.h). Comparing
 * takes NULL for ""; all else that reads a text faults.
 */
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "compiler.h"
#include "fire.h"
#include "engine/rt/rt_str.h"
#include "state.h"
#include "str.h"

static _Atomic(uint64_t) next_id = 1;

PROBE_PATH uint64_t et_hash(const char *text, size_t len)
{
	return hash_bytes(text, len);
}

struct et_str *et_str_new(const char *text, size_t len)
{
	struct et_str *s;

	if (len >= UINT32_MAX || (s = malloc(sizeof(*s) + len + 1)) == NULL)
		return NULL;
	memcpy(s->text, text, len);
	s->text[len] = '\0';
	s->len = (uint32_t)strlen(s->text); /* D's strings end at the first NUL */
	s->hash = et_hash(s->text, s->len);
	s->id = atomic_fetch_add(&next_id, 1);
	return s;
}

void et_str_free(struct et_str *s)
{
	free(s);
}

/* ---- references ----------------------------------------------------------------------- */

PROBE_PATH char *str_slot(struct fire *f, uint64_t slot)
{
	const struct en *en = f->en;

	if (slot > en->scratch_size || en->scratch_size - slot < en->strsize)
		return NULL;
	return (char *)(uintptr_t)f->scratch + slot;
}

PROBE_PATH uint64_t str_put(struct fire *f, uint64_t slot, const char *text, size_t len)
{
	char *to = str_slot(f, slot);

	if (to == NULL)
		return 0;
	if (len > f->en->strsize - 1)
		len = f->en->strsize - 1;
	memmove(to, text, len);
	str_end(to, len);
	return (uint64_t)(uintptr_t)to;
}
