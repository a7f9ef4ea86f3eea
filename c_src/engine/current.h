/* SPDX-License-Identifier: Apache-2.0 */
/* The current task of a firing: what self->, tid, ustack() and provider built-ins mean. */
#ifndef EN_CURRENT_H
#define EN_CURRENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "str.h"

/*
 * Built-ins that only the provider of the event can answer (PBI_* of prog/builtins.h; the engine
 * does not know what they mean). n is the argument of a subroutine.
 */
struct en_current;
struct fire;
struct en_current_ops {
	uint64_t (*num)(const struct en_current *cur, unsigned pbi, uint64_t n, const struct fire *f);
	/* Returns an interned text, or NULL with the text in buf, truncated, NUL-terminated. */
	const struct et_str *(*str)(
		const struct en_current *cur, unsigned pbi, uint64_t n, char *buf, size_t size);
	/* Not on the probe path: the name of a frame that ustack() gave; false: use the address. */
	bool (*frame)(const struct en_current *cur, uint64_t pc, char *buf, size_t size);
};

/* The current task. A NULL pointer to it means the thread of the operating system. */
struct en_current {
	uint64_t key; /* key of self-> variables, and tid; not 0 */
	/* NULL: the thread's CPU time. Else it must not change during an event. */
	uint64_t (*vtimestamp)(const struct en_current *cur);
	unsigned (*ustack)(const struct en_current *cur, uint64_t *pcs, unsigned max); /* NULL: native */
	const struct en_current_ops *ops; /* NULL: no provider built-ins */
};

#endif
