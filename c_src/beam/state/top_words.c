/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pids and atoms among the newest words of a process's stack. A process that waits for the answer
 * to a call has on it whom the call was for: erltrace_waits.erl traces it for a moment, with a
 * tracer state of its own, and has it scheduled. Its event is told in its own context, where its
 * stack can be read. Of {Name, Node} and {global, Name} it is the name. One process is asked at a
 * time: erltrace_vm's lock is held meanwhile.
 *
 */
#include <stdatomic.h>

#include "beam/nif.h"
#include "beam/vm/layout.h"
#include "beam/vm/vm_facts.h"
#include "compiler.h"
#include "top_words.h"

#define LOOKED_AT 64 /* words of the stack */
#define MOST	  16 /* terms among them */

static ERL_NIF_TERM words[MOST];
static _Atomic unsigned nwords;

PROBE_PATH void beam_top_words(ErlNifEnv *env, ERL_NIF_TERM pid)
{
	const char *proc = beam_tracee(env);
	const uintptr_t *stack;
	unsigned found = 0;
	int n;

	/* the first word of a process is its pid */
	if (!beam_layout_known() || proc == NULL ||
		*(const ERL_NIF_TERM *)(const void *)proc != pid)
		return;
	n = beam_stack_words(env, &stack);
	for (int i = 0; i < n && i < LOOKED_AT && found < MOST; i++) {
		int arity;
		const ERL_NIF_TERM *t = &stack[i];

		if ((stack[i] & 3) == 2 && enif_get_tuple(env, stack[i], &arity, &t) && arity == 2)
			t += t[0] == atom_global;
		if ((*t & 15) == beam_vm.pid_tag || ((*t & 3) == 3 && enif_is_atom(env, *t)))
			words[found++] = *t;
	}
	atomic_store_explicit(&nwords, found, memory_order_release);
}

/* top_words(start) -> ok; top_words(get) -> [pid() | atom()] */
ERL_NIF_TERM nif_top_words(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	char step[8] = "";

	(void)argc;
	enif_get_atom(env, argv[0], step, sizeof(step), ERL_NIF_LATIN1);
	if (step[0] == 's') {
		atomic_store_explicit(&nwords, 0, memory_order_relaxed);
		return atom_ok;
	}
	return enif_make_list_from_array(
		env, words, atomic_load_explicit(&nwords, memory_order_acquire));
}
