/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long the mailbox of a process is, how large its heap, and how much it has done, read where
 * the VM has it, without the help of the process: a node's 100,000 processes in a few ms, also
 * those that do not answer. The VM's table of processes (erts_proc, which it exports) has the
 * address of each process by the index that its pid holds; a few words of the process are these
 * numbers.
 *
 * Which words, is found out with processes of ours (src/erltrace_words.erl), which wait with known
 * numbers of everything, each with others: a word that has the right number in all of them is the
 * one. So is the table's address, among the words of erts_proc: it leads to each of them, and the
 * first word there is its pid. Until that is known, addresses are not trusted: they are read
 * through the system. Where no word or several are as they should be, nothing is read.
 *
 * Reading is safe in a NIF that a normal scheduler runs: the VM frees a process that was in the
 * table only after all schedulers have been elsewhere since, and this one is here. Nothing that a
 * process points to is read. The numbers of a process that runs are as of its last turn, and may
 * be of two instants; those that matter are asked for then.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "beam/nif.h"
#include "beam/vm/vm_facts.h"

#define FIRST	1 /* words of a process that are looked at, of at least 95 */
#define LAST	92
#define SAMPLES 8
#define TRIES	3  /* a sample may have been interrupted */
#define PTAB	64 /* words of erts_proc that are looked at */

/* Numbers of a sample, after its pid. */
enum { REDUCTIONS, INNER, OUTER, HEAP, OLD_HEAP, BINARY, OLD_BINARY, MONITORS, NUMBERS };

static struct {
	ERL_NIF_TERM pid;
	uint64_t number[NUMBERS];
	uint64_t word[LAST];
} samples[SAMPLES];
static unsigned nsamples;

static _Atomic int state; /* 0: not looked for yet, 1: known, -1: not to be known */
static int tries;
static const uintptr_t *table;
static uint64_t slots;
static unsigned at[NUMBERS]; /* of the old heap: its end, two words before its start; of monitors:
				the root of their tree, or NULL */

static bool read_words(uintptr_t from, void *to, size_t n)
{
	struct iovec local = {to, n * 8}, remote = {(void *)from, n * 8};

	return from % 8 == 0 && from >= 4096 &&
	       syscall(SYS_process_vm_readv, (long)getpid(), &local, 1L, &remote, 1L, 0L) ==
		       (long)(n * 8);
}

static size_t slot_of(ERL_NIF_TERM pid)
{
	return pid >> beam_vm.pid_shift & (slots - 1);
}

/* Does a table at this address have all samples? Their words are kept. */
static bool is_table(uintptr_t tab)
{
	for (unsigned i = 0; i < nsamples; i++) {
		uint64_t proc;

		if (!read_words(tab + 8 * slot_of(samples[i].pid), &proc, 1) ||
			!read_words(proc, samples[i].word, LAST) ||
			samples[i].word[0] != samples[i].pid)
			return false;
	}
	return true;
}

static bool find_table(void)
{
	const uint64_t *ptab = dlsym(RTLD_DEFAULT, "erts_proc");
	uint64_t words[PTAB];

	if (ptab == NULL || !read_words((uintptr_t)ptab, words, PTAB))
		return false;
	for (unsigned i = 0; i < PTAB; i++)
		if (is_table(words[i])) {
			table = (const uintptr_t *)(uintptr_t)words[i];
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
	unsigned n = 0;

	for (unsigned w = FIRST; w < LAST - 2; w++)
		if (is_number(w, number)) {
			at[number] = w;
			n++;
		}
	return n == 1;
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

static bool find(void)
{
	if (beam_vm.pid_shift == 0 || slots == 0 || (slots & (slots - 1)) != 0 || !find_table())
		return false;
	for (unsigned n = 0; n < NUMBERS; n++)
		if (!are_different(n) || !find_number(n))
			return false;
	return true;
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

/*
 * find_words(undefined, []) -> boolean() | undefined: are they known?
 * find_words(ProcessLimit, [{Pid, Number ...}]) -> boolean(): find them
 */
ERL_NIF_TERM nif_find_words(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	ERL_NIF_TERM head, tail = argv[1];
	ErlNifUInt64 limit;
	int known = atomic_load(&state);

	(void)argc;
	if (known == 0 && enif_get_uint64(env, argv[0], &limit)) {
		slots = limit;
		nsamples = 0;
		while (enif_get_list_cell(env, tail, &head, &tail))
			if (!get_sample(env, head))
				break;
		known = find() ? 1 : ++tries < TRIES ? 0 : -1;
		atomic_store_explicit(&state, known, memory_order_release);
	}
	return known == 0 ? atom_undefined : known > 0 ? atom_true : atom_false;
}

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
	if (atomic_load_explicit(&state, memory_order_acquire) != 1 ||
		enif_thread_type() != ERL_NIF_THR_NORMAL_SCHEDULER)
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
