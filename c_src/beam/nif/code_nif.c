/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What erltrace_code.erl asks of the table of loaded code: to be renewed, whether that is due;
 * and what tests ask.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "beam/atoms.h"
#include "beam/code/code_find.h"
#include "beam/code/code_lookup.h"
#include "beam/code/code_names.h"
#include "beam/code/erl_stack.h"
#include "beam/nif.h"
#include "beam/sample/sampler.h"
#include "beam/vm/layout.h"
#include "engine/safe.h"
#include "prog/stack_marks.h"

/* Reads recover from faults only where SIGSEGV and SIGBUS are not blocked. */
static bool reads_begin(sigset_t *was)
{
	sigset_t faults;

	sigemptyset(&faults);
	sigaddset(&faults, SIGSEGV);
	sigaddset(&faults, SIGBUS);
	return safe_init() == 0 && pthread_sigmask(SIG_UNBLOCK, &faults, was) == 0;
}

static void reads_end(const sigset_t *was)
{
	pthread_sigmask(SIG_SETMASK, was, NULL);
	safe_fini();
}

/*
 * code_table([{Module, fun Module:module_info/0, HasOldCode}]) -> {Modules, Functions,
 * NotUnderstood, Why} | {refused, Why}: bring the table up to date.
 */
ERL_NIF_TERM nif_code_table(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	char why[CODE_WHY] = "";
	struct code_summary sum;
	sigset_t mask;
	bool known;

	(void)argc;
	if (!enif_is_list(env, argv[0]))
		return beam_badarg(env);
#ifndef __x86_64__
	return beam_refused(env, "only on x86-64"); /* elsewhere a safe read is a system call */
#endif
	if (!reads_begin(&mask))
		return beam_refused(env, "memory cannot be read safely");
	known = code_refresh(env, argv[0], &sum, why);
	if (sum.changed)
		sampler_code_changed();
	reads_end(&mask);
	if (!known)
		return beam_refused(env, why);
	return enif_make_tuple4(env, enif_make_uint(env, sum.modules),
		enif_make_uint(env, sum.functions), enif_make_uint(env, sum.nfailed),
		beam_make_text(env, why));
}

/* {M, F, Arity}, {M, F, Arity, File, Line} or, if it is not known, the address. */
static ERL_NIF_TERM frame_term(ErlNifEnv *env, uint64_t frame)
{
	const char *file;
	struct code_function f;
	unsigned line;

	if (!code_frame_parts(frame, &f, &file, &line))
		return enif_make_uint64(env, frame);
	if (file == NULL)
		return enif_make_tuple3(env, f.mod, f.fun, enif_make_uint(env, f.arity));
	return enif_make_tuple5(env, f.mod, f.fun, enif_make_uint(env, f.arity),
		beam_make_text(env, file), enif_make_uint(env, line));
}

/* The caller's own stack, the newest frame first. */
static ERL_NIF_TERM own_stack(ErlNifEnv *env, bool line)
{
	ERL_NIF_TERM list = enif_make_list(env, 0);
	uint64_t frames[256];
	unsigned n = beam_layout_known() ? beam_walk(env, frames, 256, line) : 0;

	for (uint64_t times = 1; n-- > 0; times = 1) {
		if (n > 0 && stack_is_times(frames[n]))
			times = frames[n--] & STACK_TIMES;
		while (times-- > 0)
			list = enif_make_list_cell(env, frame_term(env, frames[n]), list);
	}
	return list;
}

/* {at, Address, Line} */
static ERL_NIF_TERM frame_at(ErlNifEnv *env, const ERL_NIF_TERM *t)
{
	ErlNifUInt64 pc;
	uint64_t frame;

	if (!enif_get_uint64(env, t[1], &pc))
		return beam_badarg(env);
	frame = beam_code_frame(pc, t[2] == atom_true);
	return frame != 0 ? frame_term(env, frame) : atom_undefined;
}

/* {entries, fun M:F/A}: the addresses that the export leads to. */
static ERL_NIF_TERM entries_term(ErlNifEnv *env, const ERL_NIF_TERM *t)
{
	ERL_NIF_TERM list = enif_make_list(env, 0);
	uintptr_t export, address;

	if (!enif_is_fun(env, t[1]) || !code_find_word((uintptr_t)(t[1] & ~7ul) + WORD, &export))
		return list;
	for (unsigned i = 0; i < 3; i++)
		if (code_find_word(export + i * WORD, &address))
			list = enif_make_list_cell(env, enif_make_uint64(env, address), list);
	return list;
}

/* {read, Module, fun Module:module_info/0}: what is found of its code, as one number. */
static ERL_NIF_TERM read_term(ErlNifEnv *env, const ERL_NIF_TERM *t)
{
	char why[CODE_WHY] = "no entry";
	uint64_t sum;

	return code_read(env, t[1], t[2], &sum, why) ? enif_make_uint64(env, sum)
						     : beam_refused(env, why);
}

static ERL_NIF_TERM counts_term(ErlNifEnv *env)
{
	uint64_t unknown, changed;

	code_counts(&unknown, &changed);
	return enif_make_tuple3(env, enif_make_uint64(env, unknown), enif_make_uint64(env, changed),
		enif_make_uint(env, code_retired()));
}

static ERL_NIF_TERM ask(ErlNifEnv *env, const char *what)
{
	if (strcmp(what, "stack") == 0 || strcmp(what, "functions") == 0)
		return own_stack(env, what[0] == 's');
	if (strcmp(what, "counts") == 0)
		return counts_term(env);
	if (strcmp(what, "words") == 0)
		return enif_make_uint64(env, code_find_words());
	if (strcmp(what, "stack_end") != 0)
		return beam_badarg(env);
	code_note_stack_end(env);
	return atom_ok;
}

/*
 * code_ask({due, Modules} | counts | stack | functions | stack_end): is a refresh due, with so many
 * modules? frames that were not known; the caller's own stack; where it ends. For tests: {at, Address, Line}, {entries, Fun}, {read, Module, Fun}; {flip,
 * N}: the Nth word that is read of the VM's memory is another, and words: that were read; {room,
 * Functions, Files}: for so many names.
 */
ERL_NIF_TERM nif_code_ask(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	char what[16] = "";
	const ERL_NIF_TERM *t;
	ERL_NIF_TERM ret = atom_ok;
	unsigned functions, files, modules;
	ErlNifUInt64 word;
	sigset_t mask;
	int n = 0;

	(void)argc;
	if (enif_get_tuple(env, argv[0], &n, &t) && n > 1)
		enif_get_atom(env, t[0], what, sizeof(what), ERL_NIF_LATIN1);
	else
		enif_get_atom(env, argv[0], what, sizeof(what), ERL_NIF_LATIN1);
	if (!reads_begin(&mask))
		return beam_refused(env, "memory cannot be read safely");
	if (n == 2 && strcmp(what, "due") == 0 && enif_get_uint(env, t[1], &modules))
		ret = code_due(modules) ? atom_true : atom_false;
	else if (n == 3 && strcmp(what, "at") == 0)
		ret = frame_at(env, t);
	else if (n == 2 && strcmp(what, "entries") == 0)
		ret = entries_term(env, t);
	else if (n == 3 && strcmp(what, "read") == 0)
		ret = read_term(env, t);
	else if (n == 2 && strcmp(what, "flip") == 0 && enif_get_uint64(env, t[1], &word))
		code_find_flip(word);
	else if (n == 3 && strcmp(what, "room") == 0 && enif_get_uint(env, t[1], &functions) &&
		 enif_get_uint(env, t[2], &files))
		code_names_room(functions, files);
	else
		ret = ask(env, what);
	reads_end(&mask);
	return ret;
}
