/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long the mailbox of a process is, how large its heap, and how much it has done, read where
 * the VM has it, without the help of the process: a node's 100,000 processes in a few ms, also
 * those that do not answer. The VM's table of processes (erts_proc, which it exports) has the
 * address of each process by the index that its pid holds; a few words of the process are these
 * numbers.
 *
 * Which words, is found out (vm/find.h) with processes of ours (erltrace_words.erl), which wait
 * with known numbers of everything, each with others: a word that has the right number in all of
 * them is the one. So is the table's address, among the words of erts_proc: it leads to each of
 * them, and the first word there is its pid. Until that is known, addresses are not trusted: they
 * may not be mapped. Where no word or several are as they should be, nothing is read.
 *
 * Reading is safe in a NIF that a normal scheduler runs: the VM frees a process that was in the
 * table only after all schedulers have been elsewhere since, and this one is here. Nothing that a
 * process points to is read. The numbers of a process that runs are as of its last turn, and may
 * be of two instants; those that matter are asked for then.
 */
#include <dlfcn.h>
#include <string.h>

#include "beam/atoms.h"
#include "beam/nif.h"
#include "beam/vm/vm_facts.h"
#include "proc_words.h"

#define SAMPLES 8
#define PTAB	64 /* words of erts_proc that are searched */

/* Numbers of a sample, after its pid. */
enum { REDUCTIONS, INNER, OUTER, HEAP, OLD_HEAP, BINARY, OLD_BINARY, MONITORS, NUMBERS };

static struct {
	ERL_NIF_TERM pid;
	uint64_t number[NUMBERS];
	uintptr_t word[FIND_WORDS];
} samples[SAMPLES];
static unsigned nsamples;

static struct find numbers;
static const uintptr_t *table;
static uint64_t slots;
static unsigned at[NUMBERS]; /* of the old heap: its end, two words before its start; of monitors:
				the root of their tree, or NULL */

static size_t slot_of(ERL_NIF_TERM pid)
{
	return pid >> beam_vm.pid_shift & (slots - 1);
}

/* Does a table at this address have all samples? Their words are kept. */
static bool is_table(uintptr_t tab)
{
	for (unsigned i = 0; i < nsamples; i++) {
		uintptr_t proc;

		if (!find_read(&proc, tab + 8 * slot_of(samples[i].pid), 1) ||
			!find_read(samples[i].word, proc, FIND_WORDS) ||
			samples[i].word[0] != samples[i].pid)
			return false;
	}
	return true;
}

static bool find_table(void)
{
	const void *ptab = dlsym(RTLD_DEFAULT, "erts_proc");
	uintptr_t words[PTAB];

	if (ptab == NULL || !find_read(words, (uintptr_t)ptab, PTAB))
		return false;
	for (unsigned i = 0; i < PTAB; i++)
		if (is_table(words[i])) {
			table = (const uintptr_t *)words[i];
			return true;
		}
	return false;
}

/* Do all samples have at this word what they should? */
static bool is_number(unsigned w, unsigned number)
{
	for (unsigned i = 0; i < nsamples; i++) {
		uint64_t got = samples[i].word[w];

		if (number == OLD_HEAP)
			got = (got - samples[i].word[w + 2]) / 8;
		else if (number == MONITORS)
			got = got != 0;
		if (got != samples[i].number[number])
			return false;
	}
	return true;
}

static bool find_number(unsigned number)
{
	struct find_set words;

	find_all(&words, 1, FIND_WORDS - 2);
	FIND_EACH(w, &words)
	if (!is_number(w, number))
		find_drop(&words, w);
	return find_only(&words, &at[number]);
}

/* If most samples had the same number, a word that does not change would do. */
static bool are_different(unsigned number)
{
	unsigned different = 0;

	for (unsigned i = 0; i < nsamples; i++) {
		unsigned k = 0;

		while (k < i && samples[k].number[number] != samples[i].number[number])
			k++;
		different += k == i;
	}
	return different >= (number == MONITORS ? 2 : 4);
}

static bool conclude(ErlNifEnv *env)
{
	(void)env;
	if (beam_vm.pid_shift == 0 || slots == 0 || (slots & (slots - 1)) != 0 || !find_table())
		return find_no(&numbers, "the table of processes is not where it is known to be");
	for (unsigned n = 0; n < NUMBERS; n++)
		if (!are_different(n) || !find_number(n))
			return false;
	return true;
}

static void start(ErlNifEnv *env)
{
	(void)env;
	slots = 0;
	nsamples = 0;
}

static bool get_sample(ErlNifEnv *env, ERL_NIF_TERM term)
{
	const ERL_NIF_TERM *t;
	ErlNifUInt64 v;
	int n;

	if (nsamples >= SAMPLES || !enif_get_tuple(env, term, &n, &t) || n != NUMBERS + 1)
		return false;
	samples[nsamples].pid = t[0];
	for (unsigned i = 0; i < NUMBERS; i++) {
		if (!enif_get_uint64(env, t[i + 1], &v))
			return false;
		samples[nsamples].number[i] = v;
	}
	nsamples++;
	return true;
}

/* {limit, ProcessLimit}, {observe, {Pid, Number ...}} */
static ERL_NIF_TERM observe(const struct find_step *s)
{
	ErlNifUInt64 limit;

	if (strcmp(s->name, "limit") == 0 && enif_get_uint64(s->env, s->arg, &limit))
		slots = limit;
	else if (strcmp(s->name, "observe") != 0 || !get_sample(s->env, s->arg))
		return 0;
	return atom_ok;
}

const struct find_fact proc_words_fact = {.name = "numbers",
	.find = &numbers,
	.start = start,
	.observe = observe,
	.conclude = conclude};

/* ---- what is read ------------------------------------------------------------------------ */

static uint64_t word(const uint64_t *proc, unsigned number)
{
	return __atomic_load_n(&proc[at[number]], __ATOMIC_RELAXED);
}

static ERL_NIF_TERM look(ErlNifEnv *env, ERL_NIF_TERM pid, const uint64_t *p)
{
	uint64_t old = word(p, OLD_HEAP),
		 start = __atomic_load_n(&p[at[OLD_HEAP] + 2], __ATOMIC_RELAXED);
	int64_t mailbox = (int64_t)(word(p, INNER) + word(p, OUTER));

	return enif_make_tuple6(env, pid, enif_make_int64(env, mailbox < 0 ? 0 : mailbox),
		enif_make_uint64(env, word(p, REDUCTIONS)),
		enif_make_uint64(env, word(p, HEAP) + (old > start ? (old - start) / 8 : 0)),
		enif_make_uint64(env, word(p, BINARY) + word(p, OLD_BINARY)),
		word(p, MONITORS) != 0 ? atom_true : atom_false);
}

/*
 * proc_words([pid()]) -> [{pid(), Mailbox, Reductions, Heap, Binaries, HasMonitors}]: of those that
 * there are, in the other order; heap and binaries in words.
 */
ERL_NIF_TERM nif_proc_words(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ERL_NIF_TERM head, tail = argv[0], list = enif_make_list(env, 0);

	(void)argc;
	if (!find_is_known(&numbers) || enif_thread_type() != ERL_NIF_THR_NORMAL_SCHEDULER)
		return enif_make_badarg(env);
	while (enif_get_list_cell(env, tail, &head, &tail)) {
		const uint64_t *proc;

		if ((head & 15) != beam_vm.pid_tag)
			continue;
		proc = (const uint64_t *)__atomic_load_n(&table[slot_of(head)], __ATOMIC_ACQUIRE);
		if (proc != NULL && proc[0] == head)
			list = enif_make_list_cell(env, look(env, head, proc), list);
	}
	return list;
}
