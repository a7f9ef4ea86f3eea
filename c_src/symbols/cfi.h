/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call frame instructions of DWARF, as a function's entry in .eh_frame has them: cfi.c runs them,
 * eh_frame.c reads the entries. The numbers of x86-64's registers are here and nowhere else.
 */
#ifndef CFI_H
#define CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "eh_frame.h"

/* DWARF's numbers of registers. */
enum { CFI_BX = 3, CFI_BP = 6, CFI_SP = 7, CFI_RA = 16, CFI_REGS = 17 };

/* ---- bytes, of somebody else ------------------------------------------------------------ */

struct cfi_bytes {
	const uint8_t *at, *end;
	bool bad; /* more was read than there is: what was read last is 0 */
};

static inline uint64_t cfi_fixed(struct cfi_bytes *b, unsigned size)
{
	uint64_t v = 0;

	if ((size_t)(b->end - b->at) < size) {
		b->bad = true;
		b->at = b->end;
		return 0;
	}
	memcpy(&v, b->at, size);
	b->at += size;
	return v;
}

static inline uint64_t cfi_signed(struct cfi_bytes *b, unsigned size)
{
	unsigned unused = 64 - 8 * size;

	return (uint64_t)((int64_t)(cfi_fixed(b, size) << unused) >> unused);
}

static inline uint64_t cfi_leb(struct cfi_bytes *b, bool is_signed)
{
	uint64_t v = 0, byte = 0x80;
	unsigned shift = 0;

	for (; (byte & 0x80) && !b->bad; shift += 7) {
		byte = cfi_fixed(b, 1);
		if (shift < 64)
			v |= (byte & 0x7f) << shift;
	}
	if (is_signed && shift < 64 && (byte & 0x40))
		v |= UINT64_MAX << shift;
	return b->bad ? 0 : v;
}

static inline uint64_t cfi_uleb(struct cfi_bytes *b)
{
	return cfi_leb(b, false);
}

static inline int64_t cfi_sleb(struct cfi_bytes *b)
{
	return (int64_t)cfi_leb(b, true);
}

/* A block of them. */
static inline struct cfi_bytes cfi_block(struct cfi_bytes *b, uint64_t size)
{
	struct cfi_bytes part = {b->at, b->at, false};

	if (size > (uint64_t)(b->end - b->at)) {
		b->bad = true;
		b->at = b->end;
	} else {
		part.end = b->at += size;
	}
	return part;
}

/* ---- instructions ----------------------------------------------------------------------- */

/* Where the caller's register is. */
struct cfi_reg {
	enum {
		CFI_SAME,      /* in the register */
		CFI_AT_CFA,    /* at off from the CFA */
		CFI_AT_BP,     /* at off from where rbp points to */
		CFI_UNDEFINED, /* nowhere */
		CFI_OTHER,     /* anything else */
	} how;
	int64_t off;
};
struct cfi_state {
	uint8_t cfa, reg; /* as in struct unwind_rule */
	int64_t off;
	struct cfi_reg bp, bx, ra;
};

struct cfi_common { /* of many functions */
	uint64_t code_align;
	int64_t data_align;
	uint8_t encoding; /* of addresses: DW_EH_PE_* */
	bool signal;	  /* what a signal has interrupted is called by it */
	bool sized;	  /* each has the size of what comes before its instructions */
	struct cfi_state state;
};

typedef bool (*cfi_row)(void *arg, uint64_t pc, const struct cfi_state *s);
/*
 * Runs instructions for a function that begins at pc; *s is the state before them and after. row is
 * called for each piece of code that ends, with the state that holds in it; false: no more. false:
 * an instruction is not known, or is wrong.
 */
bool cfi_run(struct cfi_bytes code, const struct cfi_common *of, uint64_t *pc, struct cfi_state *s,
	cfi_row row, void *arg);
struct unwind_rule cfi_rule(const struct cfi_state *s);

#endif
