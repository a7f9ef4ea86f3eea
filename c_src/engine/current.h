/* SPDX-License-Identifier: Apache-2.0 */
/* Who fires: what self->, tid, ustack() and provider built-ins mean in an event. */
#ifndef EN_CURRENT_H
#define EN_CURRENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "str.h"

/*
 * What only the provider knows of an event: the built-ins that whoever fires is asked for (PBI_* of
 * prog/builtins.h; the engine does not know what they mean). n is the argument of a subroutine.
 */
struct en_current;
struct fire;
struct en_current_ops {
	uint64_t (*num)(const struct en_current *cur, unsigned pbi, uint64_t n, const struct fire *f);
	/* The text: one that was made before, or NULL and it is in buf, cut to fit, with its NUL. */
	const struct et_str *(*str)(
		const struct en_current *cur, unsigned pbi, uint64_t n, char *buf, size_t size);
	/* Not when firing: the name of a frame that ustack() gave; false: it is an address. */
	bool (*frame)(const struct en_current *cur, uint64_t pc, char *buf, size_t size);
};

/* Who fires: what self->, tid, vtimestamp mean. NULL: the operating system's thread. */
struct en_current {
	uint64_t key; /* of self-> variables, and tid; not 0 */
	/* NULL: thread CPU time. Else the same all through an event. */
	uint64_t (*vtimestamp)(const struct en_current *cur);
	unsigned (*ustack)(const struct en_current *cur, uint64_t *pcs, unsigned max); /* NULL: native */
	const struct en_current_ops *ops; /* NULL: there is nothing to ask for */
};

#endif
