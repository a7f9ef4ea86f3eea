/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a firing writes to its slot's trace buffer, and the consumer reads. Records are aligned to 8
 * bytes. A record is its head, a fixed part of prog_clause.rec_size bytes, then the texts of its
 * strings.
 */
#ifndef PROG_RECORD_H
#define PROG_RECORD_H

#include <stdint.h>

enum rec_kind {
	REC_PAD,    /* padding up to the end of the buffer */
	REC_DATA,   /* a clause's record */
	REC_ERROR,  /* a fault: struct rec_error follows the head */
	REC_COMMIT, /* commit(): the speculation's records belong here */
};

enum rec_flags {
	REC_PROCESS = 1, /* the record ends with a struct rec_process */
	REC_NOTED = 2,	 /* in a stream: what acts at once has been done (consume/flight.c) */
};

struct rec_head {
	uint32_t size; /* of the whole record, head included; a multiple of 8 */
	uint8_t kind;
	uint8_t flags; /* REC_PROCESS, or 0 */
	uint16_t cpu;
	uint32_t epid;	 /* a clause at a probe: index into the engine's table */
	uint32_t spec;	 /* REC_COMMIT, REC_DATA in a speculation: its id */
	uint64_t ts;	 /* ns, monotonic */
};

/* A string in the fixed part: offset of its text from the start of the record; not terminated. */
struct rec_str {
	uint32_t off;
	uint32_t len;
};

/* The process that fired, for snapshots that have a track for each: terms of a node. */
struct rec_process {
	uint64_t id;   /* a pid or a port */
	uint64_t name; /* that it is registered by, or 0 */
};

struct rec_error {
	uint32_t fault; /* FAULT_* */
	uint32_t pc;	/* index of the instruction in the clause */
	uint32_t action; /* number of the action in the clause, from 1; 0: the predicate */
	uint32_t pad;
	uint64_t addr;	/* the bad address; of FAULT_TERM: TERM_WITH(term_fault, term_from); or 0 */
};

/* Faults: DTrace's numbers and texts; from 13 on they are ours. */
#define FAULTS(X)                                                                                  \
	X(NONE, 0, "unknown")                                                                      \
	X(BADADDR, 1, "invalid address")                                                           \
	X(BADALIGN, 2, "invalid alignment")                                                        \
	X(ILLOP, 3, "illegal operation")                                                           \
	X(DIVZERO, 4, "divide-by-zero")                                                            \
	X(NOSCRATCH, 5, "out of scratch space")                                                    \
	X(KPRIV, 6, "invalid kernel access")                                                       \
	X(UPRIV, 7, "invalid user access")                                                         \
	X(TUPOFLOW, 8, "tuple stack overflow")                                                     \
	X(BADSTACK, 9, "bad stack")                                                                \
	X(BADSIZE, 10, "invalid size")                                                             \
	X(BADINDEX, 11, "index out of bounds")                                                     \
	X(WORK, 13, "too much work (more than maxwork allows)")                                    \
	X(TERM, 14, "not such a term")                                                             \
	X(LOOP, 15, "a loop takes more turns than this kernel lets it take (Linux 6.9 would)")
enum fault {
#define X(id, n, text) FAULT_##id = n,
	FAULTS(X)
#undef X
};

/* What a term is not: of FAULT_TERM. */
#define TERM_FAULTS(X)                                                                             \
	X(MISSING, 1, "no such term")                                                              \
	X(NUMBER, 2, "not a number (of 64 bits)")                                                  \
	X(SIZE, 3, "not a term with a size")                                                       \
	X(TEXT, 4, "not a text")                                                                   \
	X(LARGE, 5, "too large or too deep to be compared")
enum term_fault {
#define X(id, n, text) TERM_FAULT_##id = n,
	TERM_FAULTS(X)
#undef X
};

/* Where a term is from that is not there, if that is known: the function that looked for it. */
#define TERM_FROM(X)                                                                               \
	X(ELEMENT, 1, "erlelement(): not a tuple, or it has fewer elements")                       \
	X(HD, 2, "erlhd(): not a list, or it is empty")                                            \
	X(TL, 3, "erltl(): not a list, or it is empty")                                            \
	X(KEY, 4, "erlget(): not a map, or it has no such key")                                    \
	X(FIELD, 5, "erlfield(): not such a record")
enum term_from {
#define X(id, n, text) TERM_FROM_##id = n,
	TERM_FROM(X)
#undef X
};
/* The constant of term_number() and others, and the address of FAULT_TERM: both in one. */
#define TERM_WITH(what, from) ((uint32_t)(what) | (uint32_t)(from) << 8)
#define TERM_WHAT(both)	      ((both) & 0xff)
#define TERM_WHENCE(both)     ((both) >> 8)

#endif
