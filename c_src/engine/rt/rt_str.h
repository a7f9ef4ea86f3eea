/* SPDX-License-Identifier: Apache-2.0 */
/* The text of string references, and temporary strings (probe path): str.c. */
#ifndef EN_RT_STR_H
#define EN_RT_STR_H

#include <string.h>

#include "engine/fire.h"
#include "engine/state.h"
#include "engine/str.h"

/*
 * NULL in a variable that has memory of its own: no text, then a byte that is in no text. An empty
 * string has a NUL there.
 */
#define STR_NULL_MARK '\xff'

static inline void str_set_null(char *to)
{
	to[0] = '\0';
	to[1] = STR_NULL_MARK;
}

/* End a string of this length. */
static inline void str_end(char *to, size_t len)
{
	to[len] = '\0';
	if (unlikely(len == 0))
		to[1] = '\0';
}

static inline bool str_is_null(uint64_t ref)
{
	const char *text = (const char *)(uintptr_t)ref;

	return ref == 0 ||
	       (!(ref & STR_TAG) && unlikely(text[0] == '\0') && text[1] == STR_NULL_MARK);
}

/* The text of a reference, truncated to strsize - 1 bytes; NULL (length 0): the string is NULL. */
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
	return unlikely(*len == 0) && str_is_null(ref) ? NULL : text;
}

/* The same for what a NULL string cannot be passed to. NULL, with a fault: it is. */
static inline const char *str_arg(struct fire *f, uint64_t ref, uint32_t *len)
{
	const char *text = str_text(f, ref, len);

	if (unlikely(text == NULL))
		set_fault(f, FAULT_BADADDR, 0);
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
