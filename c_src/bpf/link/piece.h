/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A function on its way through the linker: link.c puts functions together, flow.c knows what their
 * registers hold and who reads them, access.c makes loads and stores those of memory (by pointers,
 * pointer.c), bound.c bounds loops, loop.c has the kernel run them, as
 * far as the stack is enough for that (depth.c).
 */
#ifndef EBPF_PIECE_H
#define EBPF_PIECE_H

#include "link.h"

enum {
	OP_CAST = 0xbf,	    /* mov with off 1: between address spaces */
	TO_KERNEL = 1,	    /* its imm */
	TO_USER = 1 << 16,
	OP_MAY_GOTO = 0xe5,
	PSEUDO_MAP_FD = 1,    /* src of lddw */
	PSEUDO_MAP_VALUE = 2,
	PSEUDO_FUNC = 4,
	PSEUDO_CALL = 1,      /* src of call */
	CLASS_LDX = 1, CLASS_ST = 2, CLASS_STX = 3, CLASS_ALU = 4, CLASS_JMP = 5, CLASS_JMP32 = 6,
	CLASS_ALU64 = 7,
	MODE_MEMSX = 0x80, MODE_ATOMIC = 0xc0,
};

enum {
#define HELPER(number, type, name, ...) HELPER_##name = number,
#include "helpers.def"
};

/* A function of the image to be: of the object, or a program; or several programs. */
struct piece {
	const struct ebpf_insn *insns;
	unsigned n;
	const struct ebpf_func *func; /* NULL: programs */
	bool is_entry, own; /* own: its instructions are freed with it */
	unsigned at;	/* where it begins in the image */
	unsigned nargs;
	unsigned loop;	/* a callback (loop.c): of the loop with this number, + 1 */
};

struct link {
	const struct ebpf_link_input *in;
	struct piece *pieces;
	unsigned npieces;
	int *of_func;	 /* by function of the object: its piece + 1, or 0 */
	unsigned *nargs; /* the same: arguments + 1 */
	bool *counted;	 /* the same: the turns of its loops are counted */
	int left_out[EBPF_MAX_LEFT_OUT]; /* functions, or -1 */
	int first_program;
	unsigned per_group; /* programs of one piece */
	struct ebpf_insn *out;
	unsigned n;
	uint64_t follows; /* instructions that the verifier follows for loops, about */
	struct call {
		unsigned at;
		unsigned piece;
	} *calls;
	unsigned ncalls;
	struct et_error *e;
	bool failed;
};

/* ---- link.c --------------------------------------------------------------------------- */

void link_emit(struct link *l, uint8_t code, int dst, int src, int off, int32_t imm);
void link_constant(struct link *l, int dst, int kind, uint64_t v); /* lddw */
void link_no_memory(struct link *l);
void link_too_long(struct link *l, const struct piece *p);
unsigned link_add_callback(struct link *l, const struct piece *p, unsigned loop);
void link_function(struct link *l, int dst, unsigned piece); /* lddw of its address */
/* What the input says of a name that is not in the object; NULL: nothing. */
const struct ebpf_symbol *link_symbol(const struct link *l, const struct ebpf_reloc *r);

/* ---- flow.c --------------------------------------------------------------------------- */

/* Bits 0-10: the register points to the stack, the context, or the buffer. 16-: stack slots do. */
typedef uint64_t kinds;

uint64_t flow_pointer_words(kinds k); /* of the stack, from the top */
bool flow_is_jump(const struct ebpf_insn *in);
bool flow_goes_on(const struct ebpf_insn *in); /* to the next one, too */
unsigned flow_target(const struct ebpf_insn *in, unsigned at);
const struct ebpf_reloc *flow_reloc(const struct piece *p, unsigned at);
bool flow_is_constant(const struct ebpf_insn *in);
unsigned flow_writes(const struct ebpf_insn *in); /* registers, as bits */
/* By instruction, before it. The caller frees; NULL: out of memory, which is told. */
kinds *flow_kinds(struct link *l, const struct piece *p);
unsigned *flow_live(struct link *l, const struct piece *p); /* registers still to be read */
bool *flow_joins(struct link *l, const struct piece *p);    /* somebody jumps there */
/*
 * By the first instruction of each loop: the registers that it goes on with, which it changes and
 * reads again in its next turn. What the verifier knows of one it would follow turn by turn.
 */
unsigned *flow_heads(struct link *l, const struct piece *p, const unsigned *live);
/* Does what the instruction puts into its register begin a loop that goes on with it? */
bool flow_begins_loop(const struct piece *p, unsigned at, const unsigned *heads);
bool flow_returns(const struct piece *p); /* is r0 set wherever it ends? */
int flow_frame(const struct piece *p);	  /* how much stack it uses */
unsigned flow_args_of(struct link *l, int func); /* of a function of the object */
int flow_helper_args(int32_t number); /* of a helper of the kernel; -1: not in helpers.def */

/* ---- one function --------------------------------------------------------------------- */

struct loop { /* that a callback is made of: loop.c */
	unsigned *heads, nheads, *exits, nexits;
	unsigned writes, saved; /* registers: that it writes to; that are kept in the frame */
	uint64_t words;	 /* of the function's frame that it writes to directly */
};

struct fix { /* a jump of the output, and the instruction that it leads to */
	unsigned at, insn;
};

struct body {
	struct link *l;
	const struct piece *p;
	kinds *kinds;
	unsigned *live, *heads;
	bool *joins;
	/* by instruction: where its output begins, where its jump is there, and that of its bound */
	unsigned *start, *jump, *bound;
	/* by instruction, of a window: its nest of loops; where jumps into that go first */
	unsigned *nest, *way_in;
	unsigned nests; /* so many are in follows */
	int count;	/* where in the frame the turns are counted */
	/* of a window: loops, that of which this is the callback (else NULL), where they jump to */
	struct loop *loops;
	unsigned nloops;
	const struct loop *callback;
	struct fix *fixes;
	unsigned nfixes;
	unsigned *loop_of;     /* by instruction: the loop that it is in, + 1; or 0 */
	bool *turns, *reached; /* by instruction: does it turn a loop? is it in the function itself? */
	unsigned *stub;	      /* by instruction: where a jump that a loop takes leads */
	unsigned saved;	      /* registers that loops keep in the frame */
	int state;	      /* where in the frame that is: bytes from its top */
	int parent;	      /* of a callback: the register that holds the function's frame; -1 */
	bool *far;		/* jumps that 16 bits are too few for */
	int frame;		/* bytes of stack; below are the linker's own: LOCAL_* */
	unsigned uses;		/* registers */
	int window;		/* the register that holds the window's address; -1: none does */
	uint8_t pointer_of[11];	/* by register: the one whose pointer it holds, + 1; or 0 */
};

/* Words on the stack below a function's own, where registers are kept that are lent. */
enum { LOCAL_LENT = 8, LOCAL_LENT_TOO = 16 };

/* ---- pointer.c ------------------------------------------------------------------------ */

void pointer_open(struct body *b); /* where the function begins */
/* reg becomes the pointer to what is at the address in base, which may be reg. */
void pointer_make(struct body *b, unsigned at, int reg, int base);
/* A register besides reg that nobody reads any more: for a few instructions; -1: there is none. */
int pointer_free(const struct body *b, unsigned at, int reg);
void pointer_constant(struct link *l, int reg, uint64_t address);
/* Saves a register on the stack, gets it back. */
void pointer_lend(struct body *b, int reg, int local);
void pointer_return(struct body *b, int reg, int local);

/* ---- bound.c -------------------------------------------------------------------------- */

void bound_open(struct body *b);	       /* where the function begins */
void bound_fall(struct body *b, unsigned at); /* before the instruction that a nest begins with */
bool bound_enters(const struct body *b, unsigned at); /* does a jump enter a nest? */
/* Where a loop is left for an instruction of a nest that the loop is not in. */
void bound_enter(struct body *b, unsigned from, unsigned to);
void bound_ways_in(struct body *b);
void bound_head(struct body *b, unsigned at); /* where a loop may begin */
void bound_turn(struct body *b, unsigned at); /* before a jump back */
void bound_end(struct body *b);	       /* where a function ends that has turned too often */

/* ---- loop.c --------------------------------------------------------------------------- */

bool loop_may_call(const struct link *l, const struct ebpf_func *func); /* functions, in its loops */
void loop_open(struct body *b);	 /* which there are */
void loop_frame(struct body *b); /* their part of the frame */
void loop_close(struct body *b);
const struct loop *loop_at(const struct body *b, unsigned at); /* that it is in, or NULL */
bool loop_lays_out(const struct body *b, unsigned at); /* is it in this function at all? */
bool loop_takes(const struct body *b, unsigned at);    /* does a jump lead to a stub? */
void loop_begin(struct body *b);		       /* a callback */
bool loop_of_frame(struct body *b, unsigned at);
void loop_fall(struct body *b, unsigned at);
void loop_end(struct body *b);
void loop_aim(struct body *b, unsigned end);

/* ---- depth.c -------------------------------------------------------------------------- */

/* Do calls go too deep? Then there are more loops to be counted. */
bool depth_exceeds(struct link *l);

/* ---- older.c -------------------------------------------------------------------------- */

bool older_insn(struct body *b, unsigned at); /* false: it is one that all kernels have */

/* ---- access.c ------------------------------------------------------------------------- */

void access_forget(struct body *b, unsigned regs); /* they are written to */
void access_load(struct body *b, unsigned at);
void access_store(struct body *b, unsigned at);
int access_pointer(struct body *b, unsigned reg); /* a register that holds its pointer already; or -1 */

#endif
