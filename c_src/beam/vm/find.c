/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The finder of the VM's facts: the states of a search, sets of candidates and how they are
 * narrowed. Searches are made by one process at a time (erltrace_find.erl); the probe path reads
 * the state alone, and what a fact has published with it.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "engine/safe.h"
#include "find.h"

/* ---- the verdict ------------------------------------------------------------------------- */

static void set_state(struct find *f, int state)
{
	atomic_store_explicit(&f->state, state, memory_order_release);
}

void find_start(struct find *f)
{
	set_state(f, FIND_SEARCHING);
	f->why[0] = '\0';
}

bool find_no(struct find *f, const char *format, ...)
{
	va_list ap;

	if (f->why[0] != '\0')
		return false;
	va_start(ap, format);
	vsnprintf(f->why, sizeof(f->why), format, ap);
	va_end(ap);
	return false;
}

bool find_conclude(struct find *f, bool ok)
{
	if (atomic_load(&f->state) != FIND_SEARCHING)
		return false;
	if (!ok)
		find_no(f, "no candidate fits, or several do");
	set_state(f, f->why[0] == '\0' ? FIND_CONCLUDED : FIND_REFUSED);
	return f->why[0] == '\0';
}

bool find_publish(struct find *f)
{
	int concluded = FIND_CONCLUDED;

	return atomic_compare_exchange_strong_explicit(
		&f->state, &concluded, FIND_KNOWN, memory_order_release, memory_order_relaxed);
}

static void give_up(struct find *f, int state, const char *why)
{
	snprintf(f->why, sizeof(f->why), "%s", why);
	set_state(f, state);
}

void find_refuse(struct find *f, const char *why)
{
	give_up(f, FIND_REFUSED, why);
}

void find_try_again(struct find *f, const char *why)
{
	give_up(f, FIND_UNKNOWN, why);
}

/* ---- candidates -------------------------------------------------------------------------- */

void find_all(struct find_set *s, unsigned from, unsigned to)
{
	s->from = from;
	s->to = to;
	memset(s->in, true, sizeof(s->in));
}

unsigned find_left(const struct find_set *s)
{
	unsigned n = 0;

	FIND_EACH(at, s)
	n++;
	return n;
}

bool find_only(const struct find_set *s, unsigned *at)
{
	unsigned first = find_next(s, s->from);
	bool one = first < s->to && find_next(s, first + 1) == s->to;

	*at = one ? first : 0;
	return one;
}

/* ---- what candidates are tested by ------------------------------------------------------- */

bool find_is_address(uintptr_t word)
{
	return word % sizeof(word) == 0 && word >= 4096 && word >> 47 == 0;
}

bool find_is_bit(uintptr_t word)
{
	return word != 0 && (word & (word - 1)) == 0;
}

bool find_read(uintptr_t *to, uintptr_t from, unsigned nwords)
{
	bool good;

	if (!find_is_address(from) || safe_init() != 0)
		return false;
	good = safe_copy(to, (const void *)from, nwords * sizeof(*to)) == 0;
	safe_fini();
	return good;
}

unsigned find_flag(
	const uintptr_t *before, const uintptr_t *after, unsigned n, unsigned *at, uintptr_t *bit)
{
	unsigned found = 0;

	for (unsigned i = 0; i < n; i++)
		if (find_is_bit(before[i] ^ after[i])) {
			*at = i;
			*bit = before[i] ^ after[i];
			found++;
		}
	return found;
}
