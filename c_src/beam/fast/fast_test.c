/* SPDX-License-Identifier: Apache-2.0 */
#include <stdatomic.h>
#include <string.h>

#include "beam/atoms.h"
#include "compiler.h"
#include "fast_core.h"
#include "fast_test.h"

#define FROM	  0x60 /* words of a process that are looked at */
#define WORDS	  64
#define KINDS	  16 /* of exceptions that nobody catches */
#define SMALL_MAX (1 << 20)

/* Functions of erltrace_fastcalls.erl; their numbers are in the frames. */
enum { NONE, BODY, TAIL, RAISE, GROW };

static struct {
	_Atomic uint64_t entries, tails, returns, sum, caught[3], uncaught, other;
} count;

static int kind = -1; /* of the exception that comes next; -1: none that is looked at */
static struct {
	ERL_NIF_TERM tag, form; /* value: {tag, Value}; first: of a tuple; else tag */
	uintptr_t word[WORDS];
	bool seen;
} kinds[KINDS];

static void add(_Atomic uint64_t *n, uint64_t by)
{
	atomic_fetch_add_explicit(n, by, memory_order_relaxed);
}

static int number_of(const uintptr_t *info)
{
	if (info[2] != atom_erltrace_fastcalls)
		return NONE;
	if (info[3] == atom_body)
		return BODY;
	if (info[3] == atom_tail)
		return TAIL;
	if (info[3] == atom_raise)
		return RAISE;
	return info[3] == atom_grow ? GROW : NONE;
}

static uint64_t entry(
	char *proc, const uintptr_t *info, uintptr_t *reg, uint64_t top, long below)
{
	int number = number_of(info);

	(void)proc, (void)reg, (void)below;
	if (number == NONE)
		return 0;
	add(&count.entries, 1);
	if (top != 0 && number == TAIL) {
		add(&count.tails, 1);
		return (uint64_t)number << 8 | CORE_REPLACE;
	}
	return (uint64_t)number << 8 | CORE_PUSH;
}

/* body(N) returns N. */
static void returned(char *proc, uint64_t word, const uintptr_t *reg)
{
	(void)proc;
	add(&count.returns, 1);
	if (word >> 8 == BODY && (reg[0] & 15) == 15)
		add(&count.sum, reg[0] >> 4);
}

static void raised(char *proc, const uintptr_t *newest, const uintptr_t *end, bool caught,
	const uintptr_t *reg)
{
	const struct core_vm *vm = &fast_core->vm;
	bool known = caught && reg[1] == atom_erltrace_fastcalls;

	for (const uintptr_t *at = newest; (at = core_next_frame(vm, at, end)) != NULL; at++) {
		if (!caught)
			add(&count.uncaught, 1);
		else if (known && reg[3] == atom_error)
			add(&count.caught[0], 1);
		else if (known && reg[3] == atom_exit)
			add(&count.caught[1], 1);
		else if (known && reg[3] == atom_throw)
			add(&count.caught[2], 1);
		else
			add(&count.other, 1);
	}
	(void)proc;
}

static void raising(char *proc)
{
	if (kind >= 0) {
		memcpy(kinds[kind].word, proc + FROM, sizeof(kinds[kind].word));
		kinds[kind].seen = true;
	}
}

const struct core_ops fast_test_ops = {
	.entry = entry, .raising = raising, .ret = returned, .raised = raised};

/* ---- exceptions before they are handled ---------------------------------------------------- */

/* The first three kinds end with the atom erltrace_fastcalls: error, exit, throw. */
enum { KIND_ERROR, KIND_EXIT, KIND_THROW, KIND_SYSTEM };

static bool is_freason(unsigned i)
{
	for (unsigned k = 0; k < KIND_SYSTEM; k++)
		if (kinds[k].word[i] == 0 || kinds[k].word[i] >= SMALL_MAX ||
			(kinds[k].word[i] & 3) != k)
			return false;
	return true;
}

static bool is_fvalue(unsigned i)
{
	for (unsigned k = 0; k < KIND_SYSTEM; k++)
		if (kinds[k].word[i] != atom_erltrace_fastcalls)
			return false;
	return true;
}

static const char *find_reasons(void)
{
	unsigned nreason = 0, nvalue = 0;

	for (unsigned k = 0; k < KIND_SYSTEM; k++)
		if (!kinds[k].seen)
			return "an exception that nobody catches was not seen";
	for (unsigned i = 0; i < WORDS; i++) {
		if (is_freason(i)) {
			fast_core->vm.freason = FROM + 8 * i;
			nreason++;
		}
		if (is_fvalue(i)) {
			fast_core->vm.fvalue = FROM + 8 * i;
			nvalue++;
		}
	}
	return nreason == 1 && nvalue == 1 ? NULL
					   : "where a process keeps its exception is not clear";
}

static uintptr_t word_at(const char *proc, uint32_t offset)
{
	return *(const uintptr_t *)(const void *)(proc + offset);
}

PROBE_PATH bool fast_reason(
	const char *proc, ERL_NIF_TERM *class, ERL_NIF_TERM *reason, ERL_NIF_TERM word[3])
{
	uintptr_t code = word_at(proc, fast_core->vm.freason);
	const ERL_NIF_TERM *tuple;
	unsigned k, at = (fast_core->vm.freason - FROM) / 8;

	*class = (code & 3) == KIND_EXIT ? atom_exit : atom_error;
	*reason = word_at(proc, fast_core->vm.fvalue);
	word[0] = 2 << 6;
	word[2] = *reason;
	if ((code & 3) == KIND_THROW) {
		word[1] = atom_nocatch;
		*reason = (ERL_NIF_TERM)(uintptr_t)word | 2;
		return true;
	}
	/* the first that is so: the VM may raise others as error/1 does */
	for (k = 0; k < KINDS && !(kinds[k].seen && kinds[k].word[at] == code); k++)
		;
	if (k < KIND_SYSTEM)
		return true;
	if (k == KINDS)
		return false;
	word[1] = kinds[k].tag;
	tuple = (const ERL_NIF_TERM *)(uintptr_t)(*reason & ~(ERL_NIF_TERM)7);
	if (kinds[k].form == atom_value)
		*reason = (ERL_NIF_TERM)(uintptr_t)word | 2;
	else if (kinds[k].form == atom_first && (*reason & 3) == 2)
		*reason = tuple[1];
	else
		*reason = kinds[k].tag;
	return true;
}

/* ---- steps ----------------------------------------------------------------------------- */

static ERL_NIF_TERM counts(ErlNifEnv *env)
{
	ERL_NIF_TERM list = enif_make_list(env, 0);
	_Atomic uint64_t *n[] = {&count.entries, &count.tails, &count.returns, &count.sum,
		&count.caught[0], &count.caught[1], &count.caught[2], &count.uncaught,
		&count.other};

	for (unsigned i = 9; i-- > 0;)
		list = enif_make_list_cell(
			env, enif_make_uint64(env, atomic_exchange(n[i], 0)), list);
	return list;
}

ERL_NIF_TERM fast_test_step(ErlNifEnv *env, const char *step, ERL_NIF_TERM arg)
{
	const ERL_NIF_TERM *t;
	const char *why;
	int n;

	if (strcmp(step, "counts") == 0)
		return counts(env);
	if (strcmp(step, "kind") == 0) {
		if (!enif_get_tuple(env, arg, &n, &t) || n != 3 ||
			!enif_get_int(env, t[0], &kind) || kind >= KINDS) {
			kind = -1;
		} else {
			kinds[kind].tag = t[1];
			kinds[kind].form = t[2];
		}
		return atom_ok;
	}
	if (strcmp(step, "reasons") == 0) {
		kind = -1;
		why = find_reasons();
		return why == NULL ? atom_ok
				   : enif_make_tuple2(env, enif_make_atom(env, "refused"),
					     enif_make_string(env, why, ERL_NIF_LATIN1));
	}
	return enif_make_badarg(env);
}
