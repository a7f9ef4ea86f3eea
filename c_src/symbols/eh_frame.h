/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a stack is walked in code without frame pointers: what .eh_frame of a program or library says
 * of each address, as rows. A row holds from its address up to the next one's.
 *
 * The rules are also read in the kernel (kernel/bpf/walk.c), so they are small: eight bytes. Which
 * registers there are, and where the kernel saves them for a signal's handler, is x86-64's; only
 * cfi.h and kernel/bpf/walk.c know it.
 */
#ifndef EH_FRAME_H
#define EH_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a function's frame begins (the CFA: what the stack pointer is when it has returned). */
enum unwind_cfa {
	UNWIND_NONE,	 /* nothing is known here */
	UNWIND_END,	 /* nobody has called it: the first function of a thread */
	UNWIND_SP,	 /* at off from the stack pointer */
	UNWIND_BP,	 /* at off from the frame pointer */
	UNWIND_BX,	 /* at off from rbx */
	UNWIND_REGISTER, /* at off from another one, struct pt_regs' word reg: in the first frame */
	UNWIND_AT_BP,	 /* what is in memory at off from the frame pointer: a realigned stack */
	UNWIND_PLT,	 /* at 8 from the stack pointer, 16 from the off-th byte of an entry on */
	UNWIND_SIGNAL,	 /* a signal's handler returns here: sp is in memory, at off from sp */
};

/*
 * The return address is right below the CFA. bp, bx: where the caller's rbp and rbx are: so many
 * words below the CFA; 0: in the registers; from UNWIND_BY_BP on, words below what rbp points to.
 */
struct unwind_rule {
	uint8_t cfa;
	uint8_t bp, bx;
	uint8_t reg;
	int32_t off;
};
enum { UNWIND_BY_BP = 128, UNWIND_LOST = 255 }; /* LOST: nobody knows */
enum { UNWIND_PLT_ENTRY = 16 };			/* bytes */

static inline uint64_t unwind_word(const struct unwind_rule *r)
{
	return r->cfa | (uint64_t)r->bp << 8 | (uint64_t)r->bx << 16 | (uint64_t)r->reg << 24 |
	       (uint64_t)(uint32_t)r->off << 32;
}

struct unwind_row {
	uint32_t pc; /* from the base */
	struct unwind_rule rule;
};
struct unwind_rows {
	uint64_t base; /* an address as the file has it */
	struct unwind_row *row; /* by address; each has another rule, the last UNWIND_NONE */
	size_t n;
	bool cut; /* there are more than we read */
};

/*
 * The rows of a program or library. false: it has none, or there is no memory for them. What the
 * file says may be wrong: a part that is not understood has UNWIND_NONE.
 */
bool unwind_read(struct unwind_rows *to, int fd);
/* The same of the bytes of a section .eh_frame that is at an address; from, end: of the code. */
bool unwind_decode(struct unwind_rows *to, const uint8_t *bytes, size_t n, uint64_t address,
	uint64_t from, uint64_t end);
const struct unwind_rule *unwind_find(const struct unwind_rows *in, uint64_t address);
void unwind_free(struct unwind_rows *rows);

#endif
