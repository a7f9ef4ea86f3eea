/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ustack() of programs without frame pointers (probe path): from where the program stands, frame by
 * frame, by the tables that kernel/unwind.c has made of .eh_frame. Code that no table knows goes by
 * the frame pointer, but only to an address that is code. In an Erlang VM code without a table is
 * the JIT's, whose stack is another one: erlang_stack.c goes on there.
 */
#include "engine/in_kernel.h"
#include "engine/slot.h"
#include "kernel/unwind.h"
#include "symbols/eh_frame.h"
#include "task.h"
#include "vm_terms.h"

enum { REG_BP = 4, REG_BX = 5, REG_SP = 19 };
/* Where the kernel has registers for a signal's handler, from the one of the stack pointer on. */
enum { SIGNAL_FIRST = -40, SIGNAL_WORDS = 7, SIGNAL_BP = 0, SIGNAL_BX, SIGNAL_SP = 5, SIGNAL_IP };
enum { WORDS = 8, READ = 32 }; /* below the CFA, which are read at once; the most at once */
enum { MOST_HALVES = 24, MOST_RETURNS = 64 };
enum { MOST_FRAME = 1 << 20 };	       /* bytes of one that goes by the frame pointer */
#define UPROBES_PAGE 0x7fffffffe000ULL /* the last one of a process: the kernel's */

/* A walk. It is in the arena: of what is there the verifier follows nothing. */
struct walk {
	uint64_t pc, sp, bp, bx;
	uint64_t stands; /* at pc; else it has called from there, and pc is behind the call */
	uint64_t regs;	 /* of the innermost frame; 0: it is another one */
	uint64_t mappings, nmappings, mapping; /* all, and the one that pc is in */
	uint64_t pid;
	uint64_t n; /* frames there are */
	uint64_t is_vm;
	uint64_t returns; /* of functions whose returns are traced: the next to look at */
};

static inline struct walk *walk_of(struct en_thread *t)
{
	return (struct walk *)(void *)t->k.big;
}

static inline uint64_t *frame_at(struct en_thread *t, uint64_t n)
{
	__asm__ volatile("" : "+r"(n));
	return (uint64_t *)(void *)(k_buffer(t) + K_BUF + K_STACKS / 2) + (n & K_FRAMES);
}

static inline uint64_t read_word(const char *buf, uint64_t n)
{
	__asm__ volatile("" : "+r"(n));
	return ((const uint64_t *)(const void *)buf)[n & (READ - 1)];
}

/* ---- what is known ------------------------------------------------------------------------ */

static inline const struct k_walked *find_process(uint32_t pid)
{
	uint64_t at = k_walked_slot(pid);

	for (uint64_t i = unknown_zero(); i < K_UNWIND_TRIES; i++, at = (at + 1) % K_UNWIND_SLOTS) {
		const struct k_walked *p = &k_root.unwind->process[at];

		if (p->pid == pid)
			return p;
		if (p->pid == 0)
			break;
	}
	return NULL;
}

/* User space looks at the process within a second. */
static inline void missed(uint32_t pid)
{
	k_root.unwind->missed[pid & (K_MISSED - 1)] = pid;
}

/* The code that pc is in: often what it was before. */
INLINE_HERE uint64_t k_find_mapping(struct en_thread *t)
{
	struct walk *w = walk_of(t);
	const struct k_mapping *all = (const struct k_mapping *)(uintptr_t)w->mappings;
	const struct k_mapping *last = (const struct k_mapping *)(uintptr_t)w->mapping;
	uint64_t low = unknown_zero(), high = w->nmappings, pc = w->pc;

	if (last != NULL && pc - last->start < last->end - last->start)
		return 1;
	for (uint64_t i = unknown_zero(); i < MOST_HALVES && low < high; i++) {
		uint64_t mid = low + (high - low) / 2;

		if (pc < all[mid].start) {
			high = mid;
		} else if (pc >= all[mid].end) {
			low = mid + 1;
		} else {
			w->mapping = (uint64_t)(uintptr_t)&all[mid];
			return 1;
		}
	}
	return 0;
}

/* The rule of pc: unwind_word(). */
INLINE_HERE uint64_t k_find_rule(struct en_thread *t)
{
	struct walk *w = walk_of(t);
	const struct k_mapping *m = (const struct k_mapping *)(uintptr_t)w->mapping;
	const struct k_table *table = (const struct k_table *)(uintptr_t)m->table;
	uint64_t at = w->pc - (w->stands ? 0 : 1) - m->start + m->base, low, high;
	uint64_t block = at >> K_BLOCK_SHIFT;
	const uint8_t *rows;

	if (table == NULL || block >= table->blocks)
		return UNWIND_NONE;
	at &= K_BLOCK - 1;
	rows = (const uint8_t *)(uintptr_t)table->at;
	low = ((const uint32_t *)(uintptr_t)table->index)[block];
	high = ((const uint32_t *)(uintptr_t)table->index)[block + 1];
	for (uint64_t i = unknown_zero(); i < MOST_HALVES && low < high; i++) {
		uint64_t mid = low + (high - low) / 2;

		if (rows[mid] <= at)
			low = mid + 1;
		else
			high = mid;
	}
	if (low == 0)
		return UNWIND_NONE;
	low = ((const uint16_t *)(uintptr_t)table->rules)[low - 1];
	return ((const uint64_t *)(uintptr_t)k_root.unwind->rules)[low];
}

/* ---- one frame up ------------------------------------------------------------------------- */

/*
 * Where a function returns to whose return is traced: the kernel has another address in its place.
 * It keeps a list of them, from the last function that was entered on. 0: not found.
 */
INLINE_HERE uint64_t k_traced_return(struct en_thread *t, uint64_t at)
{
	struct walk *w = walk_of(t);
	uint64_t task = bpf_get_current_task();

	if (w->returns == 0)
		w->returns = task_u64(task_u64(task, k_root.off.utask), k_root.off.returns);
	for (uint64_t i = unknown_zero(); i < MOST_RETURNS && w->returns != 0; i++) {
		uint64_t stack = task_u64(w->returns, k_root.off.return_stack);
		uint64_t to = task_u64(w->returns, k_root.off.return_to);

		if (stack > at)
			break;
		w->returns = task_u64(w->returns, k_root.off.return_next);
		if (stack == at && to < UPROBES_PAGE)
			return to;
	}
	return 0;
}

/* A word that the rule says where it is: below the CFA, or below what rbp points to. */
static inline uint64_t saved(
	const char *buf, uint64_t cfa, uint64_t bp, uint64_t now, uint64_t where)
{
	if (where == 0)
		return now;
	if (where == UNWIND_LOST)
		return 0;
	if (where >= UNWIND_BY_BP)
		return user_word(bp - 8 * (where - UNWIND_BY_BP));
	return where <= WORDS ? read_word(buf, WORDS - where) : user_word(cfa - 8 * where);
}

/* From the frame that the rule belongs to, whose CFA this is, to its caller's. */
INLINE_HERE uint64_t k_to_caller(struct en_thread *t, uint64_t cfa, uint64_t rule)
{
	struct walk *w = walk_of(t);
	char *buf = k_buffer(t);
	uint64_t bp = w->bp, pc;

	if (cfa <= w->sp || cfa % 8 != 0)
		return 0;
	if (bpf_probe_read_user(buf, 8 * WORDS, (const void *)(uintptr_t)(cfa - 8 * WORDS)) != 0)
		return 0;
	pc = read_word(buf, WORDS - 1);
	w->bp = saved(buf, cfa, bp, bp, rule >> 8 & 0xff);
	w->bx = saved(buf, cfa, bp, w->bx, rule >> 16 & 0xff);
	w->sp = cfa;
	w->stands = w->regs = 0;
	w->pc = pc >= UPROBES_PAGE ? k_traced_return(t, cfa - 8) : pc;
	return w->pc;
}

/* What a signal has interrupted. at: where the kernel has its stack pointer. */
INLINE_HERE uint64_t k_to_interrupted(struct en_thread *t, uint64_t at)
{
	struct walk *w = walk_of(t);
	char *buf = k_buffer(t);

	if (bpf_probe_read_user(buf, 8 * SIGNAL_WORDS,
		    (const void *)(uintptr_t)(at + (uint64_t)SIGNAL_FIRST)) != 0)
		return 0;
	w->bp = read_word(buf, SIGNAL_BP);
	w->bx = read_word(buf, SIGNAL_BX);
	w->sp = read_word(buf, SIGNAL_SP);
	w->pc = read_word(buf, SIGNAL_IP);
	w->stands = 1;
	w->regs = 0;
	return w->pc;
}

INLINE_HERE uint64_t k_by_frame_pointer(struct en_thread *t)
{
	struct walk *w = walk_of(t);
	char *buf = k_buffer(t);
	uint64_t bp = w->bp;

	if (w->is_vm || bp % 8 != 0 || bp < w->sp || bp - w->sp > MOST_FRAME ||
		bpf_probe_read_user(buf, 16, (const void *)(uintptr_t)bp) != 0)
		return 0;
	w->bp = read_word(buf, 0);
	w->pc = read_word(buf, 1);
	w->sp = bp + 16;
	w->stands = w->regs = 0;
	if (w->pc >= UPROBES_PAGE)
		w->pc = k_traced_return(t, bp + 8);
	return w->pc;
}

/* The caller of the frame. 0: there is none, or nobody knows. */
INLINE_HERE uint64_t k_find_caller(struct en_thread *t, uint64_t rule)
{
	struct walk *w = walk_of(t);
	uint64_t off = (uint64_t)((int64_t)rule >> 32), n = rule >> 24 & 31, word = 0;

	switch (rule & 0xff) {
	case UNWIND_SP: return k_to_caller(t, w->sp + off, rule);
	case UNWIND_BP: return k_to_caller(t, w->bp + off, rule);
	case UNWIND_BX: return k_to_caller(t, w->bx + off, rule);
	case UNWIND_REGISTER:
		if (w->regs == 0)
			return 0;
		bpf_probe_read_kernel(
			&word, sizeof(word), (const void *)(uintptr_t)(w->regs + 8 * n));
		return k_to_caller(t, word + off, rule);
	case UNWIND_AT_BP: return k_to_caller(t, user_word(w->bp + off), rule);
	case UNWIND_PLT:
		n = w->pc % UNWIND_PLT_ENTRY >= off ? 16 : 8;
		return k_to_caller(t, w->sp + n, rule);
	case UNWIND_SIGNAL: return k_to_interrupted(t, w->sp + off);
	case UNWIND_NONE: return k_by_frame_pointer(t);
	default: return 0;
	}
}

/* ---- all of them -------------------------------------------------------------------------- */

/* false: nothing is known of the process, which user space is told. */
INLINE_HERE uint64_t k_begin_walk(struct en_thread *t)
{
	struct walk *w = walk_of(t);
	uint64_t mm = task_u64(bpf_get_current_task(), k_root.off.mm);
	uint32_t pid = (uint32_t)(k_current_ids() >> 32);
	struct k_walked *p = (struct k_walked *)(uintptr_t)find_process(pid);
	const struct k_mappings *all;
	char *buf = k_buffer(t);

	if (pid == 0 || (mm == 0 && k_root.off.mm != UINT32_MAX))
		return 0; /* a process of the kernel */
	if (p != NULL && p->mm == 0)
		p->mm = mm;
	if (p == NULL || p->mm != mm) { /* another program by now */
		missed(pid);
		return 0;
	}
	w->regs = bpf_task_pt_regs(bpf_get_current_task_btf());
	if (bpf_probe_read_kernel(buf, 8 * K_REGS, (const void *)(uintptr_t)w->regs) != 0)
		return 0;
	w->pc = read_word(buf, REG_IP);
	w->sp = read_word(buf, REG_SP);
	w->bp = read_word(buf, REG_BP);
	w->bx = read_word(buf, REG_BX);
	w->stands = 1;
	all = (const struct k_mappings *)(uintptr_t)p->mappings;
	w->mappings = (uint64_t)(uintptr_t)all->of;
	w->nmappings = all->n;
	w->mapping = w->returns = 0;
	w->is_vm = p->is_vm;
	w->pid = pid;
	return 1;
}

/* One more frame: false: it was the last, or there is none. A function: see k_copy_word(). */
INLINE_HERE uint64_t k_add_frame(struct en_thread *t, uint64_t first, uint64_t how)
{
	struct walk *w = walk_of(t);
	uint64_t rule;

	if (!k_find_mapping(t)) {
		missed((uint32_t)w->pid);
		return 0;
	}
	rule = k_find_rule(t);
	if (w->n == first && (rule & 0xff) == UNWIND_NONE && (how & K_UNWIND_BY_TABLE))
		return 0;
	*frame_at(t, w->n++) = w->pc;
	return k_find_caller(t, rule);
}

/*
 * The program's frames, from the n-th on: how many there are then. 0: nothing is known where it
 * stands. how: K_UNWIND_*.
 */
uint64_t k_unwind(struct en_thread *t, uint64_t n, uint64_t how)
{
	struct walk *w = walk_of(t);

	if (!k_begin_walk(t))
		return 0;
	for (w->n = n; w->n < K_FRAMES;)
		if (k_add_frame(t, n, how) == 0)
			break;
	return w->n > n ? w->n : 0;
}
