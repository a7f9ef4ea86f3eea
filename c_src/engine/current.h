/* SPDX-License-Identifier: Apache-2.0 */
/* The current task of a firing: what self->, tid, ustack() and provider built-ins mean. */
#ifndef EN_CURRENT_H
#define EN_CURRENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "prog/record.h"
#include "prog/term.h"
#include "str.h"

/*
 * Built-ins that only the provider of the event can answer (PBI_* of prog/builtins.h; the engine
 * does not know what they mean). n is the argument of a subroutine.
 */
struct en_current;
struct fire;
struct en_current_ops {
	uint64_t (*num)(
		const struct en_current *cur, unsigned pbi, uint64_t n, const struct fire *f);
	/* Returns an interned text, or NULL with the text in buf, truncated, NUL-terminated. */
	const struct et_str *(*str)(
		const struct en_current *cur, unsigned pbi, uint64_t n, char *buf, size_t size);
	const struct en_term_ops *terms; /* NULL: it has none */
	/* The process that fires; false: none. NULL: there are no such processes. */
	bool (*process)(const struct en_current *cur, struct rec_process *p);
	/* Not on the probe path: such a term as text. */
	void (*process_text)(uint64_t term, char *buf, size_t size);
	/* Not on the probe path: the name of a frame that ustack() gave; false: use the address. */
	bool (*frame)(const struct en_current *cur, uint64_t pc, char *buf, size_t size);
};

/*
 * Terms of the event (prog/term.h). `of`, `a` and `b` are handles, which may be 0 or name an empty
 * slot: that is no term. What makes a term puts it into the slot and returns its handle, or 0.
 */
struct en_term_ops {
	/* What the event is about: PBI_ERLARG and so on; n is the argument of erlarg(). */
	uint64_t (*source)(const struct en_current *cur, unsigned slot, unsigned pbi, uint64_t n);
	uint64_t (*part)(const struct en_current *cur, unsigned slot, enum term_part part,
		uint64_t of, uint64_t n);
	/* The same of what the event is about. */
	uint64_t (*source_part)(const struct en_current *cur, unsigned slot, enum term_part part,
		unsigned pbi, uint64_t source_n, uint64_t n);
	/* By a pattern of the program. Its variables are in the slots from first on. */
	bool (*match)(const struct en_current *cur, uint64_t of, unsigned pattern, unsigned first);
	/* The same of what the event is about. */
	bool (*source_match)(const struct en_current *cur, unsigned pbi, uint64_t n,
		unsigned pattern, unsigned first);
	bool (*number)(const struct en_current *cur, uint64_t of, enum term_fact fact, int64_t *v);
	/* false: there is no such text. *s: NULL, or interned; then buf is not written to. */
	bool (*text)(const struct en_current *cur, uint64_t of, enum term_text text, char *buf,
		size_t size, const struct et_str **s);
	/* Its printed text or its characters are these: 1, 0; -1: too deep to tell. */
	int (*equals)(const struct en_current *cur, uint64_t of, const char *text, size_t len);
	/* < 0, 0, > 0 as a number; TERM_NOT_A_NUMBER. huge: n is a uint64_t above INT64_MAX. */
	int (*compare)(const struct en_current *cur, uint64_t of, uint64_t n, bool huge);
	/* Two terms: 1 equal (=:=), 0 not, or one is not there; -1: too large to tell. */
	int (*same)(const struct en_current *cur, uint64_t a, uint64_t b);
};

/* The current task. A NULL pointer to it means the thread of the operating system. */
struct en_current {
	uint64_t key; /* key of self-> variables, and tid; not 0 */
	/* NULL: the thread's CPU time. Else it must not change during an event. */
	uint64_t (*vtimestamp)(const struct en_current *cur);
	/* NULL: native. lines: a frame is a place in a function, not the function alone. */
	unsigned (*ustack)(const struct en_current *cur, uint64_t *pcs, unsigned max, bool lines);
	const struct en_current_ops *ops; /* NULL: no provider built-ins */
};

#endif
