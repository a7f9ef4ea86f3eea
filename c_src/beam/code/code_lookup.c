/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From an address to a frame (probe path). The table of loaded code is an index only: modules by
 * address, of each its functions. Memory of code that is purged is soon used again, mostly for the
 * next version of the same module, in the same place, of the same size. So what the table says is
 * compared with the code each time: the address of the function in the module's list, its name, the
 * line table's address, the name of the file. The line is read from the module's own table. The
 * code is alive while it is asked for, and so is all that belongs to it. Where something differs
 * the address is not known until the table is renewed: a frame may be missing for a moment, but is
 * never wrong.
 *
 * An answer is kept with the words that it followed from. The next time that the address is asked
 * for, these words are compared and nothing is searched. What shows the lines of a whole module and
 * the name of a file, which may be long, is compared once in a stack.
 *
 * Readers (the probe path, signal handlers) count themselves in and out, in one of several counters
 * by thread. A table that was replaced is freed when each counter has been seen at zero since.
 */
#include <stdio.h>
#include <string.h>

#include "compiler.h"
#include "engine/safe.h"
#include "code_find.h"
#include "code_lookup.h"
#include "code_names.h"
#include "code_table.h"

static _Atomic(struct code_table *) current;
static struct find table;

static struct {
	_Atomic uint32_t inside;
} __attribute__((aligned(LINE))) readers[CODE_READERS];

static _Atomic bool any_lost; /* an address was not known */
static _Atomic uintptr_t lost[CODE_LOST];
static _Atomic unsigned nlost; /* that were written to lost */
static _Atomic uint64_t unknown_frames, changed_frames;

/* ---- readers --------------------------------------------------------------------------- */

static inline unsigned my_reader(void)
{
	uintptr_t self = (uintptr_t)__builtin_thread_pointer();

	return (unsigned)((self >> 12) * 0x9e3779b97f4a7c15ull >> 58);
}

PROBE_PATH bool beam_code_begin(struct code_walk *w)
{
	w->reader = my_reader();
	w->m = NULL;
	w->file = NULL;
	atomic_fetch_add(&readers[w->reader].inside, 1);
	w->t = atomic_load(&current);
	return w->t != NULL;
}

PROBE_PATH void beam_code_end(const struct code_walk *w)
{
	atomic_fetch_sub_explicit(&readers[w->reader].inside, 1, memory_order_release);
}

PROBE_PATH static void note_lost(uintptr_t word)
{
	if (!atomic_load_explicit(&any_lost, memory_order_relaxed))
		atomic_store_explicit(&any_lost, true, memory_order_relaxed);
	atomic_store_explicit(
		&lost[atomic_fetch_add_explicit(&nlost, 1, memory_order_relaxed) % CODE_LOST], word,
		memory_order_relaxed);
}

/* ---- what the code says ---------------------------------------------------------------- */

static inline bool get(uintptr_t at, uint64_t *word)
{
	return safe_load((const void *)at, 8, word);
}

static inline bool is(uintptr_t at, const uintptr_t *words, size_t n)
{
	return safe_same((const void *)at, words, n);
}

/* The last of these, in ascending order, that is not above: the first if all are. */
static unsigned last_below(const uintptr_t *v, unsigned n, uintptr_t x)
{
	const uintptr_t *base = v;

	while (n > 1) {
		unsigned half = n / 2;

		base = base[half] <= x ? base + half : base;
		n -= half;
	}
	return (unsigned)(base - v);
}

/* Where an address is: in the i-th function of a module. */
struct place {
	const struct code_module *m;
	unsigned i;
};

/* false: it is in no module. */
PROBE_PATH static bool find(const struct code_table *t, uintptr_t pc, struct place *p)
{
	if (t->n == 0)
		return false;
	p->m = t->modules[last_below(t->from, t->n, pc)];
	if (pc < p->m->from || pc >= p->m->to)
		return false;
	p->i = last_below(p->m->starts, p->m->n, pc);
	return true;
}

/* The function alone, as its code says; 0: another one is there than was. */
PROBE_PATH static uint64_t frame_there(const struct code_module *m, unsigned i)
{
	uintptr_t mfa = m->starts[i] + CODE_MFA;
	const struct code_function *f = code_function_of(m->numbers[i]);
	uint64_t fun, arity;

	if (unlikely(!is(m->functions + i * WORD, m->starts + i, 2)))
		return 0;
	if (likely(m->numbers[i] != 0))
		return is(mfa, &f->mod, 3) ? code_frame(f->mod, f->fun, (unsigned)f->arity) : 0;
	if (!is(mfa, &m->mod, 1) || !get(mfa + WORD, &fun) || !get(mfa + 2 * WORD, &arity))
		return 0;
	return code_frame(m->mod, fun, (unsigned)arity);
}

/* The item of an address among those of its function; 0: none. */
static uint64_t find_item(uintptr_t pc, uint64_t low, uint64_t high)
{
	uint64_t here, next;

	while (high > low) {
		uint64_t mid = low + (high - low) / (2 * WORD) * WORD;

		if (!get(mid, &here) || !get(mid + WORD, &next))
			return 0;
		if (pc >= here && pc < next)
			return mid;
		if (pc < here)
			high = mid;
		else
			low = mid + WORD;
	}
	return 0;
}

/* The words that show the place in the source of an address, as the VM has it; 0: unknown. */
static uint64_t location(const struct place *p, uintptr_t pc, struct safe_word words[LINE_WORDS])
{
	const struct code_module *m = p->m;
	uintptr_t items = m->lines + LINES_ITEMS + (m->n + 1) * WORD, at;
	uint64_t low, high, item, size = m->head[1] & 0xffffffff;

	if (!get(m->lines + LINES_ITEMS + p->i * WORD, &low) ||
		!get(m->lines + LINES_ITEMS + (p->i + 1) * WORD, &high) || low < items ||
		high < low || (low | high) % WORD != 0 || (item = find_item(pc, low, high)) == 0)
		return 0;
	at = m->head[2] + (item - items) / WORD * size;
	words[0].at = item;
	words[1].at = item + WORD;
	words[2].at = at & ~(WORD - 1); /* the table is aligned: it is within this word */
	for (unsigned i = 0; i < LINE_WORDS; i++)
		if (!get(words[i].at, &words[i].word))
			return 0;
	return words[2].word >> at % WORD * 8 & (size == 2 ? 0xffff : 0xffffffff);
}

static bool same_lines(const struct code_module *m)
{
	return is(m->lines_at, &m->lines, 1) && is(m->lines, m->head, 3);
}

PROBE_PATH static bool same_file(const struct code_module *m, const struct code_file *f)
{
	return f->ncells == 0 || (is(m->head[0] + (uintptr_t)(f - m->files) * WORD, &f->term, 1) &&
					 is(f->at, f->cells, 2 * f->ncells));
}

/* The frame of an address, with its line; 0: that is not known. */
static uint64_t frame_line(const struct place *p, uintptr_t pc, const struct code_file **file,
	struct safe_word words[LINE_WORDS])
{
	const struct code_module *m = p->m;
	uint64_t loc;

	if (m->lines == 0 || m->numbers[p->i] == 0)
		return 0;
	if (!same_lines(m)) {
		note_lost(pc + 1);
		return 0;
	}
	loc = location(p, pc, words);
	if (loc == 0 || loc >> LINE_BITS >= m->nfiles)
		return 0;
	*file = &m->files[loc >> LINE_BITS];
	if ((*file)->number == 0)
		return 0;
	if (!same_file(m, *file)) {
		note_lost(pc + 1);
		return 0;
	}
	return code_frame_line(m->numbers[p->i], (*file)->number, (uint32_t)(loc & LINE_MASK));
}

/* ---- answers --------------------------------------------------------------------------- */

#define GET(member)	   atomic_load_explicit(&(member), memory_order_relaxed)
#define SET(member, value) atomic_store_explicit(&(member), value, memory_order_relaxed)

/* Of an address: the first of two. */
static inline struct code_answer *answers_of(const struct code_table *t, uintptr_t pc)
{
	return &t->answers[pc * 0x9e3779b97f4a7c15ull >> 32 & (CODE_ANSWERS - 2)];
}

/* To be overwritten: that of this address, or the two in turn. */
static struct code_answer *victim_of(const struct code_table *t, uintptr_t pc)
{
	struct code_answer *a = answers_of(t, pc);

	if (GET(a[0].pc) == pc || GET(a[1].pc) == pc)
		return &a[GET(a[0].pc) != pc];
	return &a[(GET(a[0].seq) + GET(a[1].seq)) / 2 % 2];
}

/* The frame as it was the last time, if all that it followed from is there; 0: look for it. */
PROBE_PATH static inline uint64_t recall(struct code_walk *w, uintptr_t pc, bool line)
{
	struct code_answer *a = answers_of(w->t, pc);
	const struct code_module *m;
	const struct code_file *file;
	uint64_t frame;
	uint32_t seq;
	bool seen;

	a += GET(a->pc) != pc;
	seq = atomic_load_explicit(&a->seq, memory_order_acquire);
	if (unlikely(seq % 2 != 0 || GET(a->pc) != pc))
		return 0;
	frame = line ? GET(a->line) : GET(a->function);
	m = GET(a->m);
	file = line ? GET(a->file) : NULL;
	seen = file == NULL || (w->m == m && w->file == file);
	if (unlikely(!safe_same_words(a->words, line ? GET(a->nwords) : FUNCTION_WORDS) ||
		     (!seen && !(same_lines(m) && same_file(m, file)))))
		return 0;
	atomic_thread_fence(memory_order_acquire);
	if (unlikely(GET(a->seq) != seq))
		return 0;
	if (!seen) {
		w->m = m;
		w->file = file;
	}
	return frame;
}

/* Keep it, unless somebody else is about to. */
static void remember(const struct code_table *t, uintptr_t pc, const struct place *p,
	uint64_t function, uint64_t line, const struct code_file *file,
	const struct safe_word words[LINE_WORDS])
{
	struct code_answer *a = victim_of(t, pc);
	const struct code_module *m = p->m;
	const struct code_function *f = code_function_of(m->numbers[p->i]);
	uint32_t seq = GET(a->seq);

	if (seq % 2 != 0 || !atomic_compare_exchange_strong_explicit(&a->seq, &seq, seq + 1,
				    memory_order_acquire, memory_order_relaxed))
		return;
	atomic_thread_fence(memory_order_release);
	SET(a->pc, pc);
	SET(a->m, m);
	SET(a->file, file);
	SET(a->function, function);
	SET(a->line, line);
	SET(a->nwords, file != NULL ? FUNCTION_WORDS + LINE_WORDS : FUNCTION_WORDS + 1);
	for (unsigned i = 0; i < 2; i++)
		a->words[i] =
			(struct safe_word){m->functions + (p->i + i) * WORD, m->starts[p->i + i]};
	for (unsigned i = 0; i < 3; i++)
		a->words[2 + i] =
			(struct safe_word){m->starts[p->i] + CODE_MFA + i * WORD, (&f->mod)[i]};
	if (file != NULL)
		memcpy(a->words + FUNCTION_WORDS, words, LINE_WORDS * sizeof(words[0]));
	else
		a->words[FUNCTION_WORDS] = (struct safe_word){m->lines_at, 0};
	atomic_store_explicit(&a->seq, seq + 2, memory_order_release);
}

PROBE_PATH static __attribute__((noinline)) uint64_t look_up(
	struct code_walk *w, uintptr_t pc, bool line)
{
	struct safe_word words[LINE_WORDS];
	const struct code_file *file = NULL;
	uint64_t function, with_line = 0;
	struct place p;

	if (!find(w->t, pc, &p))
		return 0;
	/* no code, but what lies in front: frames of return_trace have its address */
	if (pc - p.m->starts[p.i] < CODE_INFO)
		return 0;
	function = frame_there(p.m, p.i);
	if (unlikely(function == 0)) {
		atomic_fetch_add_explicit(&changed_frames, 1, memory_order_relaxed);
		return 0;
	}
	with_line = frame_line(&p, pc, &file, words);
	if (p.m->numbers[p.i] != 0 && (with_line != 0 || p.m->lines == 0))
		remember(
			w->t, pc, &p, function, with_line != 0 ? with_line : function, file, words);
	return line && with_line != 0 ? with_line : function;
}

PROBE_PATH uint64_t beam_code_at(struct code_walk *w, uintptr_t pc, bool line)
{
	uint64_t frame = recall(w, pc, line);

	return likely(frame != 0) ? frame : look_up(w, pc, line);
}

PROBE_PATH uint64_t beam_code_frame(uintptr_t pc, bool line)
{
	struct code_walk w;
	uint64_t frame = 0;

	if (beam_code_begin(&w)) {
		frame = beam_code_at(&w, pc, line);
		if (unlikely(frame == 0))
			beam_code_lost(&w, pc + 1);
	}
	beam_code_end(&w);
	return frame;
}

PROBE_PATH uint64_t beam_code_function(ERL_NIF_TERM mod, ERL_NIF_TERM fun, unsigned arity)
{
	return code_frame(mod, fun, arity);
}

/* ---- what is not known ----------------------------------------------------------------- */

static bool is_ignored(const struct code_table *t, uintptr_t word)
{
	for (unsigned i = 0; i < t->nignored; i++)
		if (t->ignored[i] == word)
			return true;
	return false;
}

PROBE_PATH bool beam_code_shared(const struct code_walk *w, uintptr_t word)
{
	return word >= w->t->shared.from && word < w->t->shared.to;
}

/* The address of what lies in front of a function is no return address. */
static bool is_info(const struct code_table *t, uintptr_t pc)
{
	struct place p;

	return find(t, pc, &p) && pc - p.m->starts[p.i] < CODE_INFO && frame_there(p.m, p.i) != 0;
}

PROBE_PATH bool beam_code_lost(const struct code_walk *w, uintptr_t word)
{
	const struct code_table *t = w->t;
	unsigned i = 0;

	while (i < t->njit && (word < t->jit[i].from || word >= t->jit[i].to))
		i++;
	if (i == t->njit || t->shared.to == 0 || beam_code_shared(w, word) || is_ignored(t, word) ||
		is_info(t, word - 1))
		return false;
	atomic_fetch_add_explicit(&unknown_frames, 1, memory_order_relaxed);
	note_lost(word);
	return true;
}

PROBE_PATH bool beam_code_known(void)
{
	return find_is_known(&table);
}

const char *beam_code_refusal(void)
{
	return table.why;
}

/* ---- for who renews the table (not on the probe path) ----------------------------------- */

struct code_table *code_publish(struct code_table *t)
{
	return atomic_exchange(&current, t);
}

uint64_t code_readers_out(void)
{
	uint64_t out = 0;

	for (unsigned i = 0; i < CODE_READERS; i++)
		if (atomic_load(&readers[i].inside) == 0)
			out |= 1ull << i;
	return out;
}

bool code_was_lost(void)
{
	return atomic_load(&any_lost);
}

void code_none_lost(void)
{
	atomic_store(&any_lost, false);
}

uintptr_t code_take_lost(unsigned i)
{
	return atomic_exchange(&lost[i], 0);
}

void code_counts(uint64_t *unknown, uint64_t *changed)
{
	*unknown = atomic_load(&unknown_frames);
	*changed = atomic_load(&changed_frames);
}

/* ---- the search (erltrace_code.erl): a table was made; the self-test compares stacks ---- */

static bool conclude(ErlNifEnv *env)
{
	(void)env;
	return atomic_load(&current) != NULL || find_no(&table, "no table of code was made");
}

const struct find_fact beam_code_fact = {
	.name = "code", .find = &table, .conclude = conclude};
