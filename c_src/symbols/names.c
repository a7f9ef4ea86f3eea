/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Interned names that replace addresses. An address is meaningful only in its own process: in
 * another node the same address is another function, and the same function has another address. So
 * engines whose results are merged (stream/reader.c) store keys by name: each text has a number, and a key
 * has that number instead of the address. The top bits of a number are those of no address and no
 * frame.
 *
 * The size of the table is limited; a text for which there is no room has no number.
 */
#include "names.h"

#include <stdlib.h>
#include <string.h>

#define NM_TAG	 (UINT64_C(0xc) << 60)
#define NM_CACHE 4096 /* a power of two */

struct name {
	uint32_t next; /* next in its bucket: number + 1, or 0 */
	uint32_t hash;
	uint32_t sent_in, sent_as; /* the last export that has it, and its index there */
	char *text;
};
struct nm_known { /* a cached address */
	uint64_t addr, word;
	enum sy_form form;
};
struct nm {
	struct name *names;
	uint32_t n, room;
	uint32_t *heads;  /* one per name that there is room for: a power of two */
	uint32_t exports; /* number of exports so far */
	size_t mem, max;
	struct nm_known known[NM_CACHE];
};

struct nm *nm_new(size_t max)
{
	struct nm *nm = calloc(1, sizeof(*nm));

	if (nm != NULL)
		nm->max = max;
	return nm;
}

void nm_free(struct nm *nm)
{
	for (uint32_t i = 0; nm != NULL && i < nm->n; i++)
		free(nm->names[i].text);
	if (nm != NULL) {
		free(nm->names);
		free(nm->heads);
	}
	free(nm);
}

static uint32_t hash_text(const char *s)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	while (*s != '\0')
		h = (h ^ (uint8_t)*s++) * UINT64_C(0x100000001b3);
	return (uint32_t)(h ^ h >> 32);
}

static bool grow(struct nm *nm)
{
	uint32_t room = nm->room ? nm->room * 2 : 256, *heads;
	struct name *names = realloc(nm->names, room * sizeof(*names));

	if (names == NULL)
		return false;
	nm->names = names;
	heads = calloc(room, sizeof(*heads));
	if (heads == NULL)
		return false;
	free(nm->heads);
	nm->heads = heads;
	nm->room = room;
	for (uint32_t i = 0; i < nm->n; i++) {
		names[i].next = heads[names[i].hash & (room - 1)];
		heads[names[i].hash & (room - 1)] = i + 1;
	}
	return true;
}

uint64_t nm_word(struct nm *nm, const char *text)
{
	uint32_t hash = hash_text(text), i = nm->room ? nm->heads[hash & (nm->room - 1)] : 0;
	size_t size = sizeof(struct name) + sizeof(uint32_t) + strlen(text) + 1;
	struct name *name;

	for (; i != 0; i = nm->names[i - 1].next)
		if (nm->names[i - 1].hash == hash && strcmp(nm->names[i - 1].text, text) == 0)
			return NM_TAG | (i - 1);
	if (size > nm->max - nm->mem || (nm->n == nm->room && !grow(nm)))
		return 0;
	name = &nm->names[nm->n];
	*name = (struct name){
		.hash = hash, .next = nm->heads[hash & (nm->room - 1)], .text = strdup(text)};
	if (name->text == NULL)
		return 0;
	nm->mem += size;
	nm->heads[hash & (nm->room - 1)] = ++nm->n;
	return NM_TAG | (nm->n - 1);
}

const char *nm_text(const struct nm *nm, uint64_t word)
{
	uint64_t i = word ^ NM_TAG;

	return i < nm->n ? nm->names[i].text : NULL;
}

/* ---- the cache of addresses ----------------------------------------------------------- */

static struct nm_known *known_of(struct nm *nm, uint64_t addr, enum sy_form form)
{
	return &nm->known[((addr + form) * UINT64_C(0x9e3779b97f4a7c15)) >> 52 & (NM_CACHE - 1)];
}

uint64_t nm_known(struct nm *nm, uint64_t addr, enum sy_form form)
{
	const struct nm_known *k = known_of(nm, addr, form);

	return k->addr == addr && k->form == form ? k->word : 0;
}

void nm_learn(struct nm *nm, uint64_t addr, enum sy_form form, uint64_t word)
{
	*known_of(nm, addr, form) = (struct nm_known){addr, word, form};
}

/* ---- exports -------------------------------------------------------------------------- */

void nm_export(struct nm *nm)
{
	nm->exports++;
}

bool nm_sent(struct nm *nm, uint64_t word, uint32_t *as)
{
	struct name *name = &nm->names[word ^ NM_TAG];

	if (name->sent_in == nm->exports) {
		*as = name->sent_as;
		return true;
	}
	name->sent_in = nm->exports;
	name->sent_as = *as;
	return false;
}
