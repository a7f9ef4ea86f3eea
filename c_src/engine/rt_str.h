/* SPDX-License-Identifier: Apache-2.0 */
/* The text of string references, and temporary strings (probe path): str.c. */
#ifndef EN_RT_STR_H
#define EN_RT_STR_H

#include <string.h>

#include "fire.h"
#include "state.h"
#include "str.h"

/* The text of a reference, truncated to strsize - 1 bytes; NULL for a null string (length 0). */
static inline const char *str_text(const struct fire *f, uint64_t ref, uint32_t *len)
{
	uint32_t most = f->en->strsize - 1;
	const struct et_str *s = str_interned(ref);
	const char *text = (const char *)(uintptr_t)ref;

	if (s != NULL) {
		*len = s->len < most ? s->len : most;
		return s->text;
	}
	*len = text == NULL ? 0 : (uint32_t)strnlen(text, most);
	return text;
}
/* The name of the program that fires. */
#ifdef __bpf__
uint64_t str_execname(struct fire *f); /* kernel/bpf/builtin_vars.c */
#else
static inline uint64_t str_execname(const struct fire *f)
{
	return str_ref(f->en->process.execname);
}
#endif
/* A scratch slot for a result of strsize bytes; NULL, with a fault: no such slot. */
char *str_slot(struct fire *f, uint64_t slot);
uint64_t str_put(struct fire *f, uint64_t slot, const char *text, size_t len);

#endif
