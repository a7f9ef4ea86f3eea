/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keys of aggregations and dynamic variables (probe path). A firing passes a key as words on the
 * program's stack: numbers, string references, addresses of memory. A table stores it as
 *
 *   for each string: the id of its struct et_str, or 0 if it is not interned
 *   the parts one after the other: the key of self->; of a number 8 bytes; of a string u32 length
 *   and text; of memory its bytes
 *
 * The consumer gets the same format. An interned string is compared by its id and brings its hash
 * along, so its text is read only when the key is new.
 */
#ifndef EN_KEY_VIEW_H
#define EN_KEY_VIEW_H

#include <string.h>

#include "bits.h"
#include "compiler.h"
#include "engine/in_kernel.h"
#include "key.h"
#include "engine/rt/rt_str.h"
#include "engine/slot.h"
#include "engine/work.h"

/* A key as passed by a firing: its strings resolved once, and its hash. */
struct key_view {
	uint64_t self;
	uint64_t hash;
	uint32_t bytes; /* stored size, ids included */
	struct key_str {
		uint64_t id; /* 0: not interned */
		const char *text;
		uint32_t len;
	} str[PROG_MAX_KEYS];
};

PROBE_PATH static inline uint64_t key_mix(uint64_t h, uint64_t v)
{
	return mul_fold(h ^ v, 0x9fb21c651e98df25);
}

PROBE_PATH static inline uint64_t key_str_view(struct fire *f, uint64_t ref, struct key_str *s)
{
	const struct et_str *in = str_interned(ref);

	if (likely(in != NULL && in->len < f->en->strsize)) {
		s->id = in->id;
		s->text = in->text;
		s->len = in->len;
		return in->hash;
	}
	s->id = 0;
	s->text = str_arg(f, ref, &s->len);
	work_block(f, s->len);
	return et_hash(s->text, s->len);
}

/* Resolve and hash a key. false, with a fault: its parts exceed the work that is left. */
PROBE_PATH static INLINE_HERE bool key_look(struct fire *f, const struct en_key *k, uint64_t seed,
	const uint64_t *word, struct key_view *v)
{
	uint64_t h = (seed + 1) * 0x9e3779b97f4a7c15;
	struct key_str *s = v->str;

	v->bytes = k->fixed + 8u * k->nstr;
	if (k->self) {
		v->self = f->self;
		h = key_mix(h, v->self);
	}
	for (unsigned i = 0; i < k->n; i++) {
		if (k->kind[i] == EBPF_SCALAR) {
			h = key_mix(h, word[i]);
		} else if (k->kind[i] == EBPF_STR) {
			h = key_mix(h, key_str_view(f, word[i], s));
			v->bytes += s->len;
			s++;
		} else {
			work_block(f, k->size[i]);
			h = key_mix(h, et_hash((const char *)(uintptr_t)word[i], k->size[i]));
		}
	}
	v->hash = h;
	return f->fault == 0;
}

PROBE_PATH static inline bool key_bytes_equal(const char *a, const char *b, uint32_t n)
{
	return n == 0 || memcmp(a, b, n) == 0;
}

/* Compare with a stored key whose hash is equal. */
PROBE_PATH static INLINE_HERE bool key_equal(
	const struct en_key *k, const uint64_t *word, const struct key_view *v, const void *stored)
{
	const uint64_t *id = stored;
	const char *at = (const char *)(id + k->nstr);
	const struct key_str *s = v->str;
	uint64_t w;
	uint32_t len;

	if (k->self) {
		memcpy(&w, at, 8);
		if (w != v->self)
			return false;
		at += 8;
	}
	for (unsigned i = 0; i < k->n; i++) {
		if (k->kind[i] == EBPF_SCALAR) {
			memcpy(&w, at, 8);
			if (w != word[i])
				return false;
			at += 8;
		} else if (k->kind[i] == EBPF_STR) {
			memcpy(&len, at, 4);
			at += 4;
			if ((s->id == 0 || s->id != *id) &&
				(len != s->len || !key_bytes_equal(at, s->text, len)))
				return false;
			at += len;
			s++;
			id++;
		} else {
			if (memcmp(at, (const void *)(uintptr_t)word[i], k->size[i]) != 0)
				return false;
			at += k->size[i];
		}
	}
	return true;
}

PROBE_PATH static INLINE_HERE void key_store(
	const struct en_key *k, const uint64_t *word, const struct key_view *v, void *stored)
{
	uint64_t *id = stored;
	char *at = (char *)(id + k->nstr);
	const struct key_str *s = v->str;

	if (k->self) {
		memcpy(at, &v->self, 8);
		at += 8;
	}
	for (unsigned i = 0; i < k->n; i++) {
		if (k->kind[i] == EBPF_SCALAR) {
			memcpy(at, &word[i], 8);
			at += 8;
		} else if (k->kind[i] == EBPF_STR) {
			*id++ = s->id;
			memcpy(at, &s->len, 4);
			if (s->len != 0)
				memcpy(at + 4, s->text, s->len);
			at += 4 + s->len;
			s++;
		} else {
			memcpy(at, (const void *)(uintptr_t)word[i], k->size[i]);
			at += k->size[i];
		}
	}
}

#endif
