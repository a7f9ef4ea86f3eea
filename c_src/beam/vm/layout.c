/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many words there are on a process's stack. The VM tells a tracer neither that nor where the
 * process is. But the environment of a callback holds a pointer to the process, which holds the end
 * and the top of its stack. Which words these are is found out (find.h):
 *
 *   1. samples: a process says its stack_size at several depths; a pair of words must be that far
 *      apart each time;
 *   2. events of a traced process: calls must go up by equal steps, tail calls stay, and each
 *      return must be at the level of its entry, but for a constant; a message to an empty queue
 *      is the first one there, or will be (OTP 27 counts it after the event);
 *   3. messages are told of while they are taken in, receives that timed out when none is: some
 *      word of the process is never zero in the first events, and always in the second ones;
 *   4. calls that an exception ends: return_to is told of where it is caught, too, and then one
 *      word of the process holds the exception's stack trace, a term with memory of its own. It is
 *      [] at every other return. Such an event is at the level of the entry.
 *
 * Where this fails, returns go by the names of functions.
 *
 * A mailbox has three parts: where others put messages, those that are being taken in, and those
 * that have been; up to OTP 25 the last two have one counter. Messages come to a process that does
 * not look at them, then it takes them in: words that count these parts must sum up to all of them
 * at each event. Where there are none such, the counter that process_info gave is what there is.
 *
 * Where a chain of tail calls begins the VM puts a frame of its own on the stack, for return_to;
 * from OTP 27 on two words, an address in its code and the number of the trace session, for each
 * session that traces there. Those of one script are expected (beam_words.frame); where there are
 * several, those of the others do not count (beam_chain_level). What they look like is seen in the
 * same check.
 */
#include <string.h>

#include "beam/atoms.h"
#include "compiler.h"
#define BEAM_WORDS_CONST /* not const: they are written here */
#include "layout.h"
#include "vm_threads.h"

#define FIRST	8 /* word of a process, but for those that every release has at the same place */
#define LAST	FIND_WORDS
#define SAMPLES 8
#define EVENTS	64
#define WORD	((uint32_t)sizeof(uintptr_t))
#define WORDS	4 /* of the stack, in each event of the check */

struct find beam_layout;
const struct core_vm *beam_fast_frames;
struct beam_words beam_words = {.stop = 11 * WORD, .end = 16 * WORD, .frame = 1};
static unsigned word_queue; /* the length of the message queue; 0: not known */
static int queue_delta;
static unsigned word_sent, word_taken;   /* messages not taken in yet; being taken in; 0: not known */
static unsigned word_incoming; /* zero: no message is being taken in; 0: not known */

static struct sample {
	int64_t size, queue;
	uintptr_t word[LAST];
} samples[SAMPLES];
static int nsamples;

static struct {
	bool ret;
	int level;
	uintptr_t word[WORDS]; /* the newest first */
} events[EVENTS];
static int nevents;
static struct find_set raised;   /* words that were as 4. says, so far */
static int first_message; /* the queue's length at its event; -1: none came */
static int nmessages, ntimeouts;
static int64_t mail, nmail; /* messages that came together; those of them that were taken in */
static int nmails;
static int64_t all_mail; /* of all times */
static struct find_set sent, taken; /* words that counted these parts of a mailbox, so far */
static struct {
	uintptr_t word[LAST];
	int64_t mail;
} mails[EVENTS]; /* words at the event of each message, and how many there are */
static int nmailed;
static struct find_set incoming; /* words that were as 3. says, so far */

/* Frames of return_to: their first word, an address in the VM's code. */
#define UNKNOWN	    1 /* no word of a stack */
#define FRAME_WORDS 2
static uintptr_t return_to = UNKNOWN;
static uintptr_t check_session;			    /* its number, as a term; 0: there is none */
static _Atomic uintptr_t sessions[BEAM_HANDLES]; /* by a handle's slot */
static _Atomic bool open_session[BEAM_HANDLES];
static _Atomic unsigned nsessions; /* of these */

/*
 * Frames of a session that has ended stay on the stacks until control returns through them: where
 * there was more than one, they are looked for until no session is left. Called by any thread: the
 * last one sees the others' count.
 */
static void count_sessions(void)
{
	unsigned n;

	do {
		int layout = LAYOUT_KNOWN, known = LAYOUT_SESSIONS;

		n = atomic_load(&nsessions);
		if (n > 1 && return_to != UNKNOWN)
			atomic_compare_exchange_strong(
				&beam_layout.state, &layout, LAYOUT_SESSIONS);
		else if (n == 0)
			atomic_compare_exchange_strong(&beam_layout.state, &known, LAYOUT_KNOWN);
	} while (n != atomic_load(&nsessions));
}

void beam_session_set(unsigned slot, uintptr_t number)
{
	bool open = number != 0, was = atomic_exchange(&open_session[slot], open);

	if (open)
		atomic_store(&sessions[slot], number);
	if (open && !was)
		atomic_fetch_add(&nsessions, 1);
	else if (!open && was)
		atomic_fetch_sub(&nsessions, 1);
	count_sessions();
}

static bool is_session(uintptr_t word)
{
	for (unsigned i = 0; i < BEAM_HANDLES; i++)
		if (atomic_load_explicit(&sessions[i], memory_order_relaxed) == word)
			return word != 0;
	return false;
}

/*
 * The level at a call without the frames of return_to that lie on it. While it tells of a call the
 * VM puts the address that control will return to in place of the newest frame's first word: the
 * same as lies below all of them. A session has one frame at most in a chain: where its number
 * comes twice, the first is a variable of the caller. tail: one of them is of this handle's
 * session.
 */
PROBE_PATH int beam_chain_level(ErlNifEnv *env, unsigned slot, bool *tail)
{
	const uintptr_t own = atomic_load_explicit(&sessions[slot], memory_order_relaxed), *stop;
	int level = beam_stack_words(env, &stop);
	const uintptr_t *at = stop + FRAME_WORDS, *end = stop + level;
	bool has_own;

	*tail = false;
	if (at >= end || (*at != return_to && *at != stop[0]) || !is_session(stop[1]))
		return level;
	has_own = stop[1] == own;
	for (int i = 0; i < BEAM_HANDLES && at + 1 < end && *at == return_to; i++) {
		if (at[1] == stop[1])
			return level;
		has_own |= at[1] == own;
		at += FRAME_WORDS;
	}
	if (at >= end || *at != stop[0])
		return level;
	*tail = has_own;
	return (int)(end - at);
}

/* Is there one of this handle's session on the chain that began at a level, below another level? */
PROBE_PATH bool beam_chain_has(const uintptr_t *end, unsigned began, unsigned level, unsigned slot)
{
	const uintptr_t own = atomic_load_explicit(&sessions[slot], memory_order_relaxed);

	for (int i = 0; i < BEAM_HANDLES && began + FRAME_WORDS <= level; i++) {
		if (end[-(long)began - FRAME_WORDS] != return_to)
			return false;
		if (end[-(long)began - 1] == own)
			return true;
		began += FRAME_WORDS;
	}
	return false;
}

PROBE_PATH bool beam_has_session(const uintptr_t *frame)
{
	return return_to == UNKNOWN || is_session(frame[1]);
}

/* Where control returns to, when the frame of this session has gone: to that of another, maybe. */
PROBE_PATH int beam_chain_return_level(ErlNifEnv *env)
{
	const uintptr_t *stop;
	int level = beam_stack_words(env, &stop);
	const uintptr_t *at = stop + beam_words.ret_delta, *end = stop + level;

	for (int i = 0; i < BEAM_HANDLES && at < end && *at == return_to; i++)
		at += FRAME_WORDS;
	return (int)(end - at);
}

PROBE_PATH int beam_stack_words(ErlNifEnv *env, const uintptr_t **stack)
{
	const char *proc = beam_tracee(env);

	*stack = *(const uintptr_t *const *)(const void *)(proc + beam_words.stop);
	return beam_level_of(proc);
}

/*
 * The check's process called layout_body(3), four calls nested, then layout_tail(3), four calls in
 * a chain: c0 c1 c2 c3 r3 r2 r1 r0, t0 t1 t2 t3 r. Then, for each of several exceptions, it caught
 * the one of layout_raise(Why), and layout_body(0) returned: c r c r.
 */
#define CHAIN	8
#define RAISES	13
#define NRAISES 4
#define ALL	(RAISES + 4 * NRAISES)

static bool is_raised(int event)
{
	return event >= RAISES && (event - RAISES) % 4 == 1;
}

PROBE_PATH bool beam_layout_sample(ErlNifEnv *env, bool ret)
{
	bool innermost = nevents == 3 && !ret; /* of four calls */
	const uintptr_t *proc = (const uintptr_t *)(const void *)beam_tracee(env);

	FIND_EACH(w, &raised)
		if (ret && !(is_raised(nevents) ? (proc[w] & 3) == 2 : proc[w] == beam_words.calm))
			find_drop(&raised, w);
	if (nevents < EVENTS) {
		const uintptr_t *stop;
		int level = beam_stack_words(env, &stop);

		for (int i = 0; i < WORDS; i++)
			events[nevents].word[i] = i < level ? stop[i] : 0;
		events[nevents].ret = ret;
		events[nevents++].level = level;
	}
	return innermost;
}

/* No message of the check is called timeout. */
PROBE_PATH void beam_layout_message(ErlNifEnv *env, bool timeout)
{
	const uintptr_t *proc = ((const uintptr_t *const *)(const void *)env)[BEAM_ENV_TRACEE];

	if (proc == NULL)
		return;
	if (nmail < mail && !timeout && nmailed < EVENTS) {
		nmail++;
		memcpy(mails[nmailed].word, proc, sizeof(mails[0].word));
		mails[nmailed++].mail = mail;
		FIND_EACH(w, &taken)
			if ((int64_t)proc[w] != mail - nmail)
				find_drop(&taken, w);
	}
	if (first_message < 0 && word_queue != 0)
		first_message = (int)proc[word_queue];
	FIND_EACH(w, &incoming)
		if ((proc[w] == 0) != timeout)
			find_drop(&incoming, w);
	*(timeout ? &ntimeouts : &nmessages) += 1;
}

PROBE_PATH unsigned beam_queue_len(ErlNifEnv *env)
{
	const uintptr_t *proc = ((const uintptr_t *const *)(const void *)env)[BEAM_ENV_TRACEE];

	int64_t len;

	if (!beam_layout_known() || word_queue == 0 || proc == NULL)
		return 0;
	len = (int64_t)proc[word_queue] + queue_delta;
	if (word_sent != 0)
		len += (int64_t)proc[word_sent];
	if (word_taken != 0)
		len += (int64_t)proc[word_taken];
	/* the VM counts otherwise, even below zero, while somebody asks process_info for it */
	return len > 1 ? (unsigned)len : 1;
}

/* Of a message timeout: is it known to be none, but a receive that timed out? */
PROBE_PATH bool beam_timed_out(ErlNifEnv *env)
{
	const uintptr_t *proc = ((const uintptr_t *const *)(const void *)env)[BEAM_ENV_TRACEE];

	if (!beam_layout_known() || proc == NULL)
		return false;
	if (word_incoming != 0)
		return proc[word_incoming] == 0;
	return word_queue != 0 && (int64_t)proc[word_queue] + queue_delta <= 0;
}

/* So many messages have come to this process since it took the last ones in. */
static void take_mail(ErlNifEnv *env, int64_t n)
{
	const uintptr_t *proc = beam_env_process(env);

	FIND_EACH(w, &sent)
		if ((int64_t)proc[w] != n)
			find_drop(&sent, w);
	mail = n;
	all_mail += n;
	nmail = 0;
	nmails++;
}

static void take_sample(ErlNifEnv *env, int64_t size, int64_t queue)
{
	if (nsamples < SAMPLES) {
		samples[nsamples].size = size;
		samples[nsamples].queue = queue;
		memcpy(samples[nsamples++].word, beam_env_process(env), sizeof(samples[0].word));
	}
}

/* Are these two words as far apart as the stack was large, in every sample? */
static bool is_pair(int stop, int end)
{
	for (int i = 0; i < nsamples; i++) {
		const struct sample *s = &samples[i];
		int64_t d = (int64_t)(s->word[end] - s->word[stop]);

		if (d % 8 != 0 || d / 8 < s->size - 2 || d / 8 > s->size + 2 ||
			d / 8 - s->size !=
				(int64_t)(samples[0].word[end] - samples[0].word[stop]) / 8 -
					samples[0].size)
			return false;
	}
	return nsamples >= 3 && samples[0].size != samples[nsamples - 1].size;
}

/* The one word that was the length of the message queue each time; 0: there is none such. */
static unsigned find_queue(void)
{
	struct find_set queue;
	unsigned at;

	find_all(&queue, FIRST, LAST);
	for (int i = 0; i < nsamples; i++)
		FIND_EACH(w, &queue)
			if ((int64_t)samples[i].word[w] != samples[i].queue)
				find_drop(&queue, w);
	return find_only(&queue, &at) && samples[0].queue != samples[nsamples - 1].queue ? at : 0;
}

static void find_parts(void)
{
	word_sent = word_taken = 0;
	if (nmails >= 3 && nmailed == all_mail && find_only(&sent, &word_sent))
		find_only(&taken, &word_taken);
	for (int i = 0; i < nmailed && word_sent != 0; i++) {
		const uintptr_t *w = mails[i].word;
		int64_t len = (int64_t)(w[word_queue] + w[word_sent]) + queue_delta;

		if (len + (word_taken != 0 ? (int64_t)w[word_taken] : 0) != mails[i].mail)
			word_sent = word_taken = 0;
	}
}

static bool find_words(void)
{
	word_queue = find_queue();
	for (int stop = FIRST; stop < LAST; stop++)
		for (int end = FIRST; end < LAST; end++)
			if (stop != end && is_pair(stop, end)) {
				beam_words.stop = (uint32_t)stop * WORD;
				beam_words.end = (uint32_t)end * WORD;
				return true;
			}
	return false;
}

/*
 * Frames of return_to, as beam_chain_level takes them: in the nested calls below the caller's own
 * words, in the chain all calls but the first find one, and each return has the number left of it.
 */
static uintptr_t find_return_to(int step, int frame)
{
	int own = step - frame; /* the caller's words */
	uintptr_t word = own < WORDS ? events[1].word[own] : 0, back = events[8].word[0];

	if (frame != FRAME_WORDS || beam_words.ret_delta != 1 || own + 1 >= WORDS ||
		check_session == 0)
		return UNKNOWN;
	for (int i = 1; i < 4; i++)
		if (events[i].word[own] != word || events[i].word[own + 1] != check_session)
			return UNKNOWN;
	for (int i = 9; i < 12; i++)
		if (events[i].word[0] != back || events[i].word[1] != check_session ||
			events[i].word[2] != back)
			return UNKNOWN;
	for (int i = 0; i < 13; i++)
		if (events[i].ret && events[i].word[0] != check_session)
			return UNKNOWN;
	return word != back ? word : UNKNOWN;
}

/* The newest word of a frame of return_to, as nested calls find it below the caller's own words; a
 * tail call finds there where control will return to, as below it. 0: it is not so. */
static uintptr_t find_mark(int step, int frame)
{
	int own = step - frame;
	uintptr_t word = own < WORDS ? events[1].word[own] : 0;

	for (int i = 1; i < 4 && own < WORDS; i++)
		if (events[i].word[own] != word)
			return 0;
	for (int i = CHAIN + 1; i < CHAIN + 4; i++)
		if (events[i].word[0] != events[i].word[frame] || events[i].word[0] == word)
			return 0;
	return word;
}

/* Where an exception is kept while it is caught: the one word that is as expected; 0: there is
 * none such, or its events are not at the level of the entry. */
static uint32_t find_raised(void)
{
	unsigned at;

	for (int i = RAISES; i < ALL; i++)
		if (events[i].ret != (i % 2 == 0) ||
			(is_raised(i) && events[i].level != events[i - 1].level))
			return 0;
	return find_only(&raised, &at) ? (uint32_t)at * WORD : 0;
}

static bool check_events(void)
{
	int step = events[1].level - events[0].level, delta = events[4].level - events[3].level;
	int frame = events[CHAIN + 1].level - events[CHAIN].level;

	if (nevents != ALL || delta < -2 || delta > 2 || frame < 1 || frame > 2 || step <= frame)
		return false;
	for (int i = 0; i < 4; i++)
		if (events[i].ret || events[i].level != events[0].level + i * step ||
			!events[4 + i].ret ||
			events[4 + i].level != events[3 - i].level + delta)
			return false;
	for (int i = CHAIN + 1; i < CHAIN + 4; i++)
		if (events[i].ret || events[i].level != events[CHAIN + 1].level)
			return false;
	if (!events[RAISES - 1].ret || events[RAISES - 1].level != events[CHAIN].level + delta)
		return false;
	beam_words.mark = find_mark(step, frame);
	beam_words.raised = find_raised();
	if (beam_words.mark == 0 || beam_words.raised == 0)
		return false;
	if (first_message != 0 && first_message != 1)
		word_queue = 0;
	queue_delta = 1 - first_message;
	find_parts();
	word_incoming = 0;
	if (nmessages >= 5 && ntimeouts >= 5 && find_left(&incoming) > 0)
		word_incoming = find_next(&incoming, FIRST);
	beam_words.ret_delta = delta;
	beam_words.frame = (unsigned)frame;
	return_to = find_return_to(step, frame);
	return true;
}

static void start(ErlNifEnv *env)
{
	check_session = 0;
	beam_words.calm = enif_make_list(env, 0);
	nsamples = nevents = nmessages = ntimeouts = nmails = nmailed = 0;
	mail = nmail = all_mail = 0;
	first_message = -1;
	find_all(&incoming, FIRST, LAST);
	find_all(&raised, FIRST, LAST);
	find_all(&sent, FIRST, LAST);
	find_all(&taken, FIRST, LAST);
}

static bool conclude(ErlNifEnv *env)
{
	(void)env;
	return check_events() || find_no(&beam_layout, "events are not at the levels of their calls");
}

/*
 * {sizes, {Stack, Queue}} of the process; words: are the stack's known? Then {session, Number} of
 * the trace session that shows the events, {mail, N}.
 */
static ERL_NIF_TERM observe(const struct find_step *s)
{
	ErlNifSInt64 size, queue;
	const ERL_NIF_TERM *t;
	int n;

	if (strcmp(s->name, "words") == 0)
		return find_words() ? atom_true : atom_false;
	if (strcmp(s->name, "session") == 0)
		check_session = s->arg;
	else if (strcmp(s->name, "mail") == 0 && enif_get_int64(s->env, s->arg, &queue))
		take_mail(s->env, queue);
	else if (strcmp(s->name, "sizes") == 0 && enif_get_tuple(s->env, s->arg, &n, &t) &&
		 n == 2 && enif_get_int64(s->env, t[0], &size) &&
		 enif_get_int64(s->env, t[1], &queue))
		take_sample(s->env, size, queue);
	else
		return 0;
	return atom_ok;
}

const struct find_fact beam_layout_fact = {.name = "stack",
	.find = &beam_layout,
	.start = start,
	.observe = observe,
	.conclude = conclude,
	.published = count_sessions};
