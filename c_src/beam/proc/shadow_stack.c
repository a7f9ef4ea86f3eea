/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Shadow stacks (probe path), which go by the number of words on a process's own stack. A call of a
 * function that lies no deeper than the newest frame is a tail call, or the frame has ended unseen:
 * it takes its place, so nothing grows where the process's stack does not. The first few frames lie
 * in the process's slot, the rest in chunks of a common pool, which is handed out without locks.
 *
 * For functions whose exceptions are traced the VM puts a frame of exception_trace on the stack at
 * every call, at a tail call too, and tells of the end of each, the newest first. How many of them
 * a chain of tail calls has is the distance between the level and the top of its frame here.
 */
#include "beam/code/erl_stack.h"
#include "beam/vm/vm_event.h"
#include "compiler.h"
#include "core/core.h"
#include "processes.h"
#include "shadow_stack.h"

_Static_assert(sizeof(struct beam_chunk) == 256, "a power of two");

/* ---- chunks ---------------------------------------------------------------------------- */

PROBE_PATH static struct beam_chunk *chunk_get(struct beam_procs *t)
{
	uint32_t n = free_list_get(&t->free, &t->chunks->next, sizeof(*t->chunks), t->nchunks);

	return n != 0 ? &t->chunks[n - 1] : NULL;
}

static void chunk_put(struct beam_procs *t, struct beam_chunk *c)
{
	if (!free_list_put(&t->free, &t->chunks->next, sizeof(*c), (uint32_t)(c - t->chunks + 1)))
		beam_procs_lose(t);
}

/* ---- frames ---------------------------------------------------------------------------- */

static inline struct beam_frame *top(struct beam_proc *p)
{
	if (p->n <= BEAM_INLINE_FRAMES)
		return &p->frame[p->n - 1];
	return &p->chunk->frame[(p->n - 1 - BEAM_INLINE_FRAMES) % BEAM_CHUNK_FRAMES];
}

PROBE_PATH static void pop(struct beam_procs *t, struct beam_proc *p)
{
	p->n--;
	if (p->n >= BEAM_INLINE_FRAMES && (p->n - BEAM_INLINE_FRAMES) % BEAM_CHUNK_FRAMES == 0) {
		struct beam_chunk *c = p->chunk;

		p->chunk = c->below;
		chunk_put(t, c);
	}
}

PROBE_PATH void beam_stack_clear(struct beam_procs *t, struct beam_proc *p)
{
	while (p->n > BEAM_INLINE_FRAMES)
		pop(t, p);
	p->n = 0;
	p->chunk = NULL;
}

/* Room for one frame more; false: none, which is counted. */
static inline bool push(struct beam_procs *t, struct beam_proc *p)
{
	struct beam_chunk *c;

	if (p->n >= BEAM_INLINE_FRAMES && (p->n - BEAM_INLINE_FRAMES) % BEAM_CHUNK_FRAMES == 0) {
		c = chunk_get(t);
		if (c == NULL) {
			beam_procs_lose(t);
			return false;
		}
		c->below = p->chunk;
		p->chunk = c;
	}
	p->n++;
	return true;
}

const struct beam_fn beam_no_fn;

/* Words of a frame of exception_trace: the function and the tracer more than one of return_to. */
static inline unsigned telling_words(void)
{
	return beam_words.frame + 2;
}

/* How many of them are still there of this chain of tail calls. */
static inline unsigned to_tell(const struct beam_frame *f)
{
	return (f->top - f->level) / telling_words();
}

/*
 * Is the VM's frame of return_to still there? In a tail call it is the newest, and says where
 * control will return to, as the word below it.
 */
static bool has_return_to(const struct beam_frame *f, unsigned level, const uintptr_t *end)
{
	const uintptr_t *newest = end - f->top;

	if (level > f->top)
		return newest[0] == beam_words.mark;
	return level == f->top && newest[0] == end[-(long)f->level] && beam_has_session(newest);
}

static _Atomic uintptr_t seen; /* the newest word of a frame of exception_trace */

/*
 * The same for a chain of tail calls that tells of its ends: the frame of return_to is its first.
 * Nothing else has one at that place but a call at the chain's own level, which would have shown
 * that the chain is over. Another handle or tool may have frames in the chain before ours: then
 * that of return_to may lie below, and what is ours has one less.
 *
 */
static bool has_chain(const struct beam_frame *f, unsigned level, const uintptr_t *end)
{
	const uintptr_t *began = end - f->level, *newest = end - f->top;
	uintptr_t known = atomic_load_explicit(&seen, memory_order_relaxed);

	if (level < f->top - beam_words.frame)
		return false;
	if (began[-(long)beam_words.frame] == beam_words.mark) {
		if (level > f->top && unlikely(newest[0] != known))
			atomic_store_explicit(&seen, newest[0], memory_order_relaxed);
		return level > f->top || (level == f->top && newest[0] == began[0]);
	}
	newest += beam_words.frame;
	if (level == f->top - beam_words.frame)
		return began[0] == beam_words.mark || beam_tells_end(began[0], began[0] == known);
	return (began[0] == beam_words.mark || beam_tells_end(began[0], true)) &&
	       beam_tells_end(newest[0], newest[0] == known);
}

/*
 * Is this frame over, as a call at this level shows? Levels alone do not tell all: before OTP 27 an
 * exception that is caught further out than in the caller is not told of, nor is hibernation, and
 * the stack may have grown past the frame since. But the VM's own frames on it went with it.
 */
static bool is_over(const struct beam_frame *f, unsigned level, const uintptr_t *end)
{
	if (f->level > level)
		return true;
	if (end == NULL || f->top == f->level)
		return false;
	return to_tell(f) > 0 ? !has_chain(f, level, end) : !has_return_to(f, level, end);
}

/* Does it return although it has made a tail call? So it is where what it returns is read. */
static inline bool stays(const struct beam_fn *fn)
{
	return beam_fn_has(fn, TRAIT_TELLS) && beam_nprobes(&fn->nval) > 0;
}

PROBE_PATH unsigned beam_stack_enter_slow(struct beam_procs *t, struct beam_proc *p,
	const struct beam_fn *fn, unsigned level, const uintptr_t *end, bool *tail)
{
	unsigned telling = beam_fn_has(fn, TRAIT_TELLS) ? telling_words() : 0;
	struct beam_frame *f = NULL;
	bool in_chain;

	while (p->n > 0 && (top(p)->fn == &beam_no_fn || is_over(top(p), level, end)))
		pop(t, p);
	in_chain = p->n > 0 && level <= (f = top(p))->top;
	if (in_chain && !stays(f->fn)) {
		*tail = true;
		f->fn = fn;
		if (level == f->level)
			f->top = beam_frame_top(fn, level);
		f->top += telling;
		return p->n;
	}
	if (!push(t, p))
		return p->n + 1;
	/*
	 * A chain has one frame of return_to. Where other sessions have frames between ours, it is
	 * not known whether this call has one: with a top that is too low a tail call is taken for
	 * a call, which tells of its end as well, but no call for a tail call.
	 */
	if (in_chain || (telling != 0 && beam_several_sessions()))
		*top(p) = (struct beam_frame){.fn = fn, .level = level, .top = level + telling};
	else
		*top(p) = (struct beam_frame){
			.fn = fn, .level = level, .top = beam_frame_top(fn, level) + telling};
	return p->n;
}

PROBE_PATH void beam_stack_cut(struct beam_procs *t, struct beam_proc *p, unsigned level)
{
	while (p->n > 0 &&
		(top(p)->level > level || (top(p)->level == level && top(p)->top != level)))
		pop(t, p);
}

PROBE_PATH void beam_stack_cut_chains(struct beam_procs *t, struct beam_proc *p, unsigned level,
	const uintptr_t *end, unsigned slot)
{
	const struct beam_frame *f;

	while (p->n > 0) {
		f = top(p);
		if (f->level <= level && (f->top == f->level || to_tell(f) > 0 ||
						 beam_chain_has(end, f->level, level, slot)))
			return;
		pop(t, p);
	}
}

/* Is the frame of a call by the fast way on the stack still? */
static bool is_there(const struct beam_frame *f, unsigned level, const uintptr_t *end)
{
	const struct core_vm *vm = beam_fast_frames;
	unsigned newest = f->level + 1 + vm->frame;

	return newest <= level && core_is_frame(vm, end - newest);
}

PROBE_PATH unsigned beam_stack_enter_fast(struct beam_procs *t, struct beam_proc *p,
	const struct beam_fn *fn, unsigned level, const uintptr_t *end,
	const struct beam_tail *tail)
{
	bool off = tail->is || tail->off != 0; /* a frame is not on the stack just now */
	struct beam_frame *f;

	while (p->n > 0) {
		f = top(p);
		if (f->fn->number == 0 || (off && f->level == tail->below) ||
			is_there(f, level, end))
			break;
		pop(t, p);
	}
	if (tail->is && p->n > 0 && (f = top(p))->level == tail->below) {
		*f = (struct beam_frame){.fn = fn, .level = level, .top = level};
		return p->n;
	}
	level += tail->off;
	if (!push(t, p))
		return p->n + 1;
	*top(p) = (struct beam_frame){.fn = fn, .level = level, .top = level};
	return p->n;
}

PROBE_PATH void beam_stack_raised(struct beam_procs *t, struct beam_proc *p, unsigned level)
{
	while (p->n > 0 && top(p)->level >= level)
		pop(t, p);
}

PROBE_PATH bool beam_stack_is_fast(struct beam_proc *p, unsigned level)
{
	return p->n > 0 && top(p)->level >= level && top(p)->fn->number != 0;
}

PROBE_PATH const struct beam_fn *beam_stack_return_slow(
	struct beam_procs *t, struct beam_proc *p, unsigned level, unsigned *depth)
{
	const struct beam_fn *fn;

	while (p->n > 0 && top(p)->level > level) /* ended unseen */
		pop(t, p);
	if (p->n == 0 || top(p)->level != level)
		return NULL;
	fn = top(p)->fn;
	*depth = p->n;
	pop(t, p);
	return fn;
}

PROBE_PATH unsigned beam_stack_leave(
	struct beam_procs *t, struct beam_proc *p, const struct beam_fn *fn)
{
	unsigned depth;

	while (p->n > 1 && top(p)->fn != fn) /* ended unseen */
		pop(t, p);
	depth = p->n > 0 ? p->n : 1;
	if (p->n > 0)
		pop(t, p);
	return depth;
}

/* May it be this frame that fn tells of? Else it has ended unseen. */
static bool may_tell(const struct beam_frame *f, const struct beam_fn *fn)
{
	unsigned n = to_tell(f);

	return n > 1 || (n == 1 && (f->fn == fn || !beam_fn_has(f->fn, TRAIT_TELLS)));
}

PROBE_PATH const struct beam_fn *beam_stack_told(struct beam_procs *t, struct beam_proc *p,
	const struct beam_fn *fn, unsigned *depth, unsigned *level)
{
	const struct beam_fn *last;
	struct beam_frame *f;

	while (p->n > 0 && !may_tell(top(p), fn))
		pop(t, p);
	*depth = 1;
	*level = 0;
	if (p->n == 0) /* there was no room for it, or it was called before the script began */
		return atomic_load_explicit(&t->lost, memory_order_relaxed) != 0 ? fn : &beam_no_fn;
	f = top(p);
	last = f->fn;
	*depth = p->n;
	*level = f->level;
	f->fn = &beam_no_fn;
	f->top -= telling_words();
	if (to_tell(f) == 0)
		pop(t, p);
	return last;
}

/* ---- by names -------------------------------------------------------------------------- */

#define MOST_NAMES 1024 /* without levels a tail call cannot be told from a call */

PROBE_PATH unsigned beam_stack_enter_by_name(
	struct beam_procs *t, struct beam_proc *p, const struct beam_fn *fn)
{
	if (p->n > 0 && top(p)->fn == fn && p->n >= MOST_NAMES / 2)
		return p->n; /* a loop, most likely */
	if (p->n >= MOST_NAMES || !push(t, p)) {
		beam_procs_lose(t);
		return p->n + 1;
	}
	*top(p) = (struct beam_frame){.fn = fn};
	return p->n;
}

PROBE_PATH const struct beam_fn *beam_stack_return_by_name(
	struct beam_procs *t, struct beam_proc *p, const struct beam_fn *to, unsigned *depth)
{
	const struct beam_fn *fn;

	if (p->n == 0)
		return NULL;
	fn = top(p)->fn;
	*depth = p->n;
	pop(t, p);
	while (to != NULL && p->n > 0 && top(p)->fn != to) /* its chain of tail calls */
		pop(t, p);
	return fn;
}
