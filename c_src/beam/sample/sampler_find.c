/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the VM keeps what the sampler's handler reads. Found out (vm/find.h) once in a node, before
 * the first script that samples, step by step (erltrace_sampling.erl); each fact is the only one
 * that fits, the same on every scheduler, or sampling is refused with the reason:
 *
 *   the scheduler's data  a NIF on scheduler N: of what the thread's keys point to, the one whose
 *			   first word lies shortly below the NIF's arguments (the registers), and which
 *			   has a word that is the process, followed by 0 and N
 *   the heap		   the stack's top and end are known (layout.c); the heap lies around them
 *   the NIF		   a word of the process points to its module, function and arity; the word
 *			   below the registers is where it returns to
 *   a dirty NIF	   a word of the process points behind its module, function and arity
 *   sensitive		   a flag in one of the words in front of the heap's: erltrace's own processes
 *			   have it, and are not seen
 *   the oldest word	   of the stack, the same in every process
 *   a BIF		   the only call of the JIT's shared code through a register after which all of
 *			   the process is read anew; an export has its module, function and arity
 *   a slow BIF		   the only other call after which the code is the same as after a NIF's; if there
 *			   is none these BIFs have no names
 *   garbage collection	   as fast_find.c finds it
 *
 * and a signal handler must find room on the alternate stack of the schedulers. In the end samples
 * are taken of processes whose stacks are known, which must be right.
 *
 * Every word goes through word(), so that a test can change each of them.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "beam/atoms.h"
#include "beam/code/erl_stack.h"
#include "beam/code/vm_frames.h"
#include "beam/fast/fast_find.h"
#include "beam/nif.h"
#include "beam/vm/layout.h"
#include "error.h"
#include "sampler.h"

#define KEYS	  64  /* thread-specific keys that are searched */
#define DATA	  128 /* words of a scheduler's data */
#define REGISTERS 256 /* bytes from the registers to the arguments, at most */
#define FIRST	  8   /* word of a process that is searched */
#define LAST	  FIND_WORDS
#define EXPORT	  24
#define ROOM	  4096 /* bytes that the handler may need of an alternate stack */
#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif
_Static_assert(LAST <= SAMPLER_PROC, "words of a process");

struct sampler_facts sampler_facts;
static struct sampler_facts found;
static unsigned nschedulers;
static struct find search;
static uint64_t nwords, flip; /* tests */

bool sampler_known(void)
{
	return find_is_known(&search);
}

const char *sampler_refusal(void)
{
	return search.why[0] != '\0' ? search.why : "it was not looked for";
}

#define no(...) find_no(&search, __VA_ARGS__)

/* ---- words ----------------------------------------------------------------------------- */

static uintptr_t word(const uintptr_t *p)
{
	return ++nwords == flip ? *p ^ 0x7ff8 : *p;
}

static bool words(uintptr_t *to, uintptr_t from, unsigned n)
{
	if (from % sizeof(uintptr_t) != 0 || !sampler_read(to, from, n * sizeof(*to)))
		return false;
	for (unsigned i = 0; i < n; i++)
		to[i] = word(&to[i]);
	return true;
}

static bool is_mfa(uintptr_t at, ERL_NIF_TERM mod, ERL_NIF_TERM fun, unsigned arity)
{
	uintptr_t w[3];

	return at > 4096 && words(w, at, 3) && w[0] == mod && w[1] == fun && (w[2] & 0xff) == arity;
}

/* The only word of a process that points to this function, with so many bytes in between. */
static uint32_t find_pointer(const uintptr_t *proc, ErlNifEnv *env, const char *fun, unsigned arity,
	size_t before)
{
	ERL_NIF_TERM mod = enif_make_atom(env, "erltrace_nif"), f = enif_make_atom(env, fun);
	struct find_set set;
	unsigned at;

	find_all(&set, FIRST, LAST);
	FIND_EACH(i, &set)
		if (!is_mfa(proc[i] - before, mod, f, arity))
			find_drop(&set, i);
	return find_only(&set, &at) ? at : 0;
}

/* ---- schedulers ------------------------------------------------------------------------ */

static bool has_room(void)
{
	unsigned long least = getauxval(AT_MINSIGSTKSZ);
	stack_t s;

	least = least != 0 ? least : 2048;
	if (sigaltstack(NULL, &s) != 0 || (s.ss_flags & SS_DISABLE))
		return no("a scheduler has no stack for signals");
	return s.ss_size >= least + ROOM ||
	       no("a scheduler's stack for signals has %zu bytes", s.ss_size);
}

static bool find_data(struct sampler_facts *f, const ERL_NIF_TERM argv[], uintptr_t proc,
	uint64_t number, uintptr_t *registers)
{
	uintptr_t data[DATA];
	unsigned hits = 0;

	for (pthread_key_t key = 0; key < KEYS; key++) {
		uintptr_t at = (uintptr_t)pthread_getspecific(key);

		if (at == 0 || !words(data, at, DATA) || (uintptr_t)argv - data[0] > REGISTERS)
			continue;
		for (uint32_t i = FIRST; i + 2 < DATA; i++) {
			if (data[i] != proc || (data[i + 1] & 0xffffffff) != 0 ||
				data[i + 2] != number)
				continue;
			hits++;
			f->key = key;
			f->process = i;
			*registers = data[0];
		}
	}
	return hits == 1 || no("a scheduler's data is found %u times", hits);
}

static bool find_heap(struct sampler_facts *f, const uintptr_t *proc)
{
	f->stop = beam_words.stop / sizeof(uintptr_t);
	f->htop = f->stop - 1;
	f->end = beam_words.end / sizeof(uintptr_t);
	f->heap = f->end - 1;
	if (proc[f->heap] > proc[f->htop] || proc[f->htop] > proc[f->stop] ||
		proc[f->stop] >= proc[f->end] || proc[f->heap] == 0 ||
		proc[f->end] - proc[f->heap] != proc[f->end + 2] * sizeof(uintptr_t))
		return no("the heap of a process is not around its stack");
	return words(&f->normal_exit, proc[f->end] - sizeof(uintptr_t), 1) ||
	       no("a process has no stack");
}

/* {scheduler, Number}: a process on that scheduler. */
static bool look_at_scheduler(ErlNifEnv *env, const ERL_NIF_TERM argv[], uint64_t number)
{
	uintptr_t at = (uintptr_t)beam_env_process(env), registers = 0;
	uintptr_t proc[SAMPLER_PROC];
	struct sampler_facts f;
	ErlNifPid self;

	memset(&f, 0, sizeof(f));
	errno = 0;
	if (!words(proc, at, SAMPLER_PROC))
		return errno == EPERM || errno == ENOSYS
			       ? no("the node may not read its own memory: process_vm_readv: %s, as a "
				    "seccomp filter without that call has it (allow it, or use -p "
				    "PID as root)",
					 strerror(errno))
			       : no("a process cannot be read");
	if (enif_thread_type() != ERL_NIF_THR_NORMAL_SCHEDULER ||
		enif_self(env, &self) == NULL || proc[0] != self.pid)
		return no("a process does not begin with its pid");
	if (!has_room() || !find_data(&f, argv, at, number, &registers) || !find_heap(&f, proc))
		return false;
	f.current = find_pointer(proc, env, "find", 2, 0);
	if (f.current == 0)
		return no("no word of a process, or several, point to its NIF");
	if (!words(&f.ret_nif, registers - sizeof(uintptr_t), 1))
		return no("nothing lies below the registers");
	if (nschedulers++ == 0)
		found = f;
	return memcmp(&f, &found, sizeof(f)) == 0 || no("schedulers are not alike");
}

/* In a dirty NIF. */
static bool look_at_dirty(ErlNifEnv *env)
{
	uintptr_t data[DATA], proc[SAMPLER_PROC], at = (uintptr_t)pthread_getspecific(found.key);

	if (nschedulers == 0 || enif_thread_type() != ERL_NIF_THR_DIRTY_CPU_SCHEDULER)
		return no("not on a dirty scheduler");
	if (!has_room())
		return false;
	if (at == 0 || !words(data, at, DATA) || (data[found.process + 1] & 0xffffffff) != 1 ||
		!words(proc, data[found.process], SAMPLER_PROC))
		return no("a dirty scheduler's data is not like a scheduler's");
	found.i = find_pointer(proc, env, "sampling_dirty", 1, 3 * sizeof(uintptr_t));
	return found.i != 0 || no("no word of a process, or several, point to its dirty NIF");
}

/* {sensitive, 0}, {sensitive, 1}: before and after the process became it. */
static bool look_at_flags(ErlNifEnv *env, uint64_t after)
{
	static uintptr_t seen[2][SAMPLER_PROC];
	unsigned hits, word;

	if (nschedulers == 0 || after > 1 ||
		!words(seen[after], (uintptr_t)beam_env_process(env), found.htop))
		return no("a process cannot be read");
	if (!after)
		return true;
	hits = find_flag(seen[0], seen[1], found.htop, &word, &found.sensitive);
	found.flags = word;
	return hits == 1 || no("%u words of a process tell that it is sensitive", hits);
}

/* {export, fun lists:map/2} */
static bool look_at_export(ErlNifEnv *env, ERL_NIF_TERM fun)
{
	ERL_NIF_TERM lists = enif_make_atom(env, "lists"), map = enif_make_atom(env, "map");
	uintptr_t box[2], w[EXPORT];
	struct find_set set;

	if ((fun & 3) != 2 || !words(box, fun & ~(ERL_NIF_TERM)3, 2) || !words(w, box[1], EXPORT))
		return no("an external fun does not point to its export");
	find_all(&set, 0, EXPORT - 2);
	FIND_EACH(i, &set)
		if (w[i] != lists || w[i + 1] != map || (w[i + 2] & 0xff) != 2)
			find_drop(&set, i);
	return find_only(&set, &found.export) ||
	       no("an export has its name %u times", find_left(&set));
}

/* ---- code ------------------------------------------------------------------------------ */

/* All is there: where the JIT's shared code calls what is to be told apart. */
static bool conclude(ErlNifEnv *env)
{
	uintptr_t target;

	(void)env;
	if (nschedulers == 0 || found.export == 0 || found.sensitive == 0)
		return no("not all was looked for");
	sampler_find_ranges(found.ret_nif);
	if (sampler_code(found.ret_nif) == 0 || sampler_code(found.normal_exit) == 0)
		return no("the VM has no JIT, or its code is not where it is known to be");
	if (!sampler_after_call(found.ret_nif, &target))
		return no("NIFs are not called as known");
	found.ret_gc = fast_find_gc_return(found.ret_nif);
	found.ret_bif =
		fast_find_bif_return(found.ret_nif, (uint8_t)(found.stop * sizeof(uintptr_t)));
	if (found.ret_gc == 0)
		return no("no call of the garbage collector as known, or several");
	if (found.ret_bif == 0)
		return no("no call of BIFs as known, or several");
	found.ret_slow_bif = fast_find_like(found.ret_nif);
	sampler_facts = found;
	return true;
}

/* ---- the self-test --------------------------------------------------------------------- */

struct told {
	ErlNifEnv *env;
	ERL_NIF_TERM list;
};

/* {State, Pid, Scheduler, Times, [Frame]} */
static void tell(void *arg, const struct sampler_thread *t, const struct sampler_head *h,
	const uint64_t *frames)
{
	struct told *told = arg;
	ErlNifEnv *env = told->env;
	ERL_NIF_TERM list = enif_make_list(env, 0);
	char text[512];

	for (unsigned i = h->nframes; i-- > 0;) {
		if (!beam_frame_text(frames[i], text, sizeof(text)) &&
			!code_vm_frame_text(frames[i], text, sizeof(text)))
			snprintf(text, sizeof(text), "0x%llx", (unsigned long long)frames[i]);
		list = enif_make_list_cell(env, beam_make_text(env, text), list);
	}
	told->list = enif_make_list_cell(env,
		enif_make_tuple5(env, beam_make_text(env, h->state),
			h->pid != 0 ? (ERL_NIF_TERM)h->pid : atom_undefined,
			enif_make_uint(env, t->sched), enif_make_uint(env, h->times), list),
		told->list);
}

/* Of CPU time. */
static void burn(uint64_t us)
{
	struct timespec from, now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	while ((uint64_t)(now.tv_sec - from.tv_sec) * 1000000 + (uint64_t)(now.tv_nsec / 1000) -
			(uint64_t)(from.tv_nsec / 1000) <
		us);
}

/* Signals like ours to all schedulers, so many each: of their own timers, of others, of none. */
static void forge(unsigned n)
{
	static unsigned turn;
	siginfo_t si;

	memset(&si, 0, sizeof(si));
	si.si_code = SI_TIMER;
	for (unsigned i = 0; i < atomic_load(&sampler_nthreads); i++)
		for (unsigned k = 0; k < n; k++) {
			const int value[] = {(int)i, (int)i + 1, -1, SAMPLER_THREADS, 1 << 30};

			si.si_signo = sampler_signal();
			si.si_value.sival_int = value[turn++ % 5];
			si.si_overrun = 0;
			syscall(SYS_rt_tgsigqueueinfo, getpid(), sampler_threads[i]->tid,
				si.si_signo, &si);
		}
}

/* ---- what erltrace_sampling.erl calls -------------------------------------------------- */

static ERL_NIF_TERM done(ErlNifEnv *env, bool ok)
{
	return find_answer(env, &search, ok);
}

static void start(ErlNifEnv *env)
{
	(void)env;
	memset(&found, 0, sizeof(found));
	nschedulers = 0;
	sampler_pid = getpid();
}

void sampler_forget(void)
{
	if (sampler_known() && sampler_facts.i == 0)
		find_try_again(&search, "no dirty scheduler could be looked at");
}

static ERL_NIF_TERM test_start(ErlNifEnv *env)
{
	struct et_error e = {.tag = ""};
	bool ok = sampler_test_start(&e) == 0 || no("%s", e.text);

	et_err_clear(&e);
	return done(env, ok);
}

/* {scheduler, N}, {sensitive, 0 | 1}, {export, Fun}; and sampling_dirty(dirty), see below */
static ERL_NIF_TERM observe(const struct find_step *s)
{
	ErlNifUInt64 n = 0;

	enif_get_uint64(s->env, s->arg, &n);
	if (strcmp(s->name, "scheduler") == 0)
		return done(s->env, look_at_scheduler(s->env, s->argv, n));
	if (strcmp(s->name, "sensitive") == 0)
		return done(s->env, look_at_flags(s->env, n));
	if (strcmp(s->name, "export") == 0)
		return done(s->env, look_at_export(s->env, s->arg));
	return 0;
}

/* {burn, Microseconds}; of tests {flip, N}, {forge, N}, {hold, 0 | 1}: nobody reads the rings */
static ERL_NIF_TERM ask_with(const struct find_step *s)
{
	ErlNifUInt64 n = 0;

	enif_get_uint64(s->env, s->arg, &n);
	if (strcmp(s->name, "burn") == 0)
		burn(n);
	else if (strcmp(s->name, "flip") == 0) {
		nwords = 0;
		flip = n;
	} else if (strcmp(s->name, "forge") == 0)
		forge((unsigned)n);
	else if (strcmp(s->name, "hold") == 0)
		sampler_hold(n != 0);
	else
		return 0;
	return atom_ok;
}

/* #{signal, threads, drops}: the latter of all scripts so far */
static ERL_NIF_TERM about(ErlNifEnv *env)
{
	ERL_NIF_TERM map = enif_make_new_map(env);
	uint64_t drops = 0;

	for (unsigned i = 0; i < atomic_load(&sampler_nthreads); i++)
		drops += atomic_load(&sampler_threads[i]->drops);
	if (!sampler_known())
		return beam_refused(env, sampler_refusal());
	enif_make_map_put(env, map, enif_make_atom(env, "signal"),
		enif_make_int(env, sampler_signal()), &map);
	enif_make_map_put(env, map, enif_make_atom(env, "threads"),
		enif_make_uint(env, atomic_load(&sampler_nthreads)), &map);
	enif_make_map_put(
		env, map, enif_make_atom(env, "drops"), enif_make_uint64(env, drops), &map);
	return map;
}

/*
 * sampling_wait(test_start), test_read, test_stop are the self-test; about is what was found. If all
 * dirty schedulers are taken, sampling_dirty(dirty) is left out: samples of these have the process
 * and its stack, not the NIF.
 */
static ERL_NIF_TERM ask(const struct find_step *s)
{
	ErlNifEnv *env = s->env;

	if (s->has_arg)
		return ask_with(s);
	if (strcmp(s->name, "test_stop") == 0) {
		sampler_test_stop();
		return atom_ok;
	}
	if (strcmp(s->name, "test_read") == 0) {
		struct told told = {env, enif_make_list(env, 0)};

		sampler_test_read(tell, &told);
		return told.list;
	}
	if (strcmp(s->name, "dirty_known") == 0)
		return found.i != 0 ? atom_true : atom_false;
	if (strcmp(s->name, "about") == 0)
		return about(env);
	if (strcmp(s->name, "facts") == 0) /* for tests */
		return enif_make_tuple2(env, beam_make_binary(env, &found, sizeof(found)),
			enif_make_uint64(env, nwords));
	return 0;
}

const struct find_fact sampler_fact = {.name = "sampling",
	.find = &search,
	.start = start,
	.observe = observe,
	.ask = ask,
	.conclude = conclude};

/* sampling_wait(test_start): it may have to wait. */
ERL_NIF_TERM nif_sampling_wait(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	(void)argc, (void)argv;
	return test_start(env);
}

/* sampling_dirty(dirty | {burn, Microseconds}) */
ERL_NIF_TERM nif_sampling_dirty(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	const ERL_NIF_TERM *t;
	ErlNifUInt64 us;
	int n;

	(void)argc;
	if (!enif_get_tuple(env, argv[0], &n, &t) || n != 2)
		return done(env, look_at_dirty(env));
	if (enif_get_uint64(env, t[1], &us))
		burn(us);
	return atom_ok;
}
