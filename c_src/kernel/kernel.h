/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel engine: clauses at syscall, pid and other probes of the kernel run there, as BPF.
 *
 * There is one engine, not two: its memory (variables, aggregations, buffers) is in a BPF arena,
 * which kernel and user space have mapped at the same addresses. What fires in the command itself
 * (BEGIN, tick, END) runs here, what fires in the kernel runs there, on the same tables, by the
 * same C code: the engine's probe path is built a second time, for BPF (bpf/), and linked with the
 * program's clauses when it is loaded. The consumer does not see a difference.
 *
 * Providers, a file each:
 *
 *   syscall.c       system calls by their names
 *   sched_proc.c    sched and proc
 *   pid.c           functions of a process and instructions inside of them
 *   usdt.c          probes that programs and libraries carry themselves
 *   kernel_erlang.c erlang probes of a node: functions of its VM (vm_probes.c), and events inside
 *                   the node, passed on by a script there (handover.c) that a bridge runs
 *                   (include/erltrace.h)
 *   sampler.c       profile-N on CPUs
 *   tasks.c         no probes, but what is known of threads: fields, CPU time, the end of their
 *                   self->
 *
 * What they stand on:
 *
 *   entries.def     the BPF programs: where each begins, what it is attached to, what it may do
 *   load.c          programs, maps and links in the kernel; what is missing where they are refused
 *                   (load.h is what providers call)
 *   root.h          what user space tells the kernel's half
 *   tracepoint.c    programs at raw tracepoints
 *   uprobe.c        sites in programs and libraries where probes fire; sites.c: those of each
 *                   probe, and those in libraries that are loaded while tracing
 *   modules.c       the program and the libraries of a process; ifunc.c: functions that they choose;
 *                   x86_length.c: where instructions begin
 *   vm_stacks.c     Erlang VMs, and where they have the stacks of processes
 *   tracing.c       functions of the kernel that are on top of stacks only because we look
 *
 * A program is made of:
 *
 *   object.c        the engine's probe path for BPF, as it was built: functions and relocations
 *   link.c          functions and clauses made one program that the kernel's verifier accepts
 *   flow.c          what their registers hold; arena_access.c: their loads and stores (link.h)
 *   func_types.c    the types of its functions, as the verifier wants them
 *   btf.c           where members are in the running kernel's structures
 *
 * The memory itself is engine/region.c: addresses reserved when an engine is made, an arena from
 * the go on. What is only in the kernel is in bpf/:
 *
 *   entries.c       where firings begin; sched_proc.h: those of sched and proc; erlang.h: those of a
 *                   node
 *   builtin_vars.c  built-in variables; task.h: fields of threads; frames.c: stacks
 *   memory.c        memory of others; buffer.h: through which it is read
 *   destructive.c   chill(), raise(), stop()
 *   thread.c        what D's library tells of threads and their open files
 *   usdt_args.c     the arguments of usdt probes
 *   terms.c         terms of an Erlang VM as texts; erlang_stack.c: stacks of its processes
 *   std.c           what the engine takes from the C library; shim.h: what its sources need to be
 *                   BPF; helpers.h: functions of the kernel
 */
#ifndef K_KERNEL_H
#define K_KERNEL_H

#include "bpf/ebpf.h"
#include "prog/rt.h"
#include "entries.h"
#include "error.h"

struct en;

/* ---- object.c ------------------------------------------------------------------------- */

/* What an instruction refers to. */
enum k_sym {
	K_SYM_UNKNOWN,
	K_SYM_FUNC, /* a function of the table */
	K_SYM_DATA, /* constants */
	/* what the linker itself puts in */
	K_SYM_CLAUSE,	/* k_clause() */
	K_SYM_ROOT,	/* k_root */
	K_SYM_BUF,	/* k_buf */
	K_SYM_BUF_MASK, /* k_buf_mask */
};
struct k_reloc {
	unsigned at; /* instruction in the function */
	enum k_sym kind;
	int index;	  /* of K_SYM_FUNC, K_SYM_DATA: which */
	uint64_t off;	  /* of K_SYM_DATA: where in it */
	const char *name; /* or NULL */
};
struct k_data { /* constants */
	const char *bytes;
	size_t size;
	uint64_t addr; /* in the arena: load.c puts them there */
};
struct k_func {
	const char *name;
	const struct ebpf_insn *insns;
	unsigned n;
	bool global; /* known by its name to other files */
	struct k_reloc *relocs;
	unsigned nrelocs;
};
struct k_object {
	struct k_func *funcs;
	unsigned n;
	struct k_data *data;
	unsigned ndata;
	/* in funcs, < 0: not there */
	int entry[ENTRY_COUNT_];
	int rt[RT_COUNT_];
	int erlang_stack; /* k_erlang_stack() */
};
int k_object_load(struct k_object *o, struct et_error *e); /* of all files: one table */
void k_object_free(struct k_object *o);

/* ---- link.c --------------------------------------------------------------------------- */

struct k_clause {
	const struct ebpf_insn *insns;
	unsigned n;
	unsigned index; /* of the clause in its program */
};
struct k_input {
	const struct k_object *object;
	const struct ebpf_env *env; /* of the clauses: what their calls take */
	const uint64_t *strs;	    /* constant strings of the program */
	const struct k_clause *clauses;
	unsigned nclauses;
	enum k_entry entry; /* where it begins */
	bool erlang;	    /* there are Erlang VMs whose stacks are wanted */
	int arena_fd, buf_fd;
	uint64_t root; /* k_root */
	unsigned nbufs; /* a power of two */
};
struct k_part { /* a function of the program */
	const char *name; /* NULL: a clause */
	unsigned at;	  /* its first instruction */
	unsigned nargs;	  /* numbers all; it gives one too */
};
struct k_output {
	struct ebpf_insn *insns;
	struct k_part *parts; /* the first is where it begins */
	unsigned ninsns, nparts;
};
/* The caller frees both arrays. */
int k_link(const struct k_input *in, struct k_output *out, struct et_error *e);

/* ---- func_types.c --------------------------------------------------------------------- */

/* BTF for the functions of a program, so that the verifier looks at each by itself. Its fd. */
int k_types(const struct k_output *p, struct et_error *e);

/* ---- btf.c ---------------------------------------------------------------------------- */

struct k_btf;
#define K_NO_OFFSET UINT32_MAX
struct k_btf *k_btf_open(void); /* NULL: this kernel does not say */
void k_btf_close(struct k_btf *b);
/* Of a member ("se.sum_exec_runtime") in a structure; K_NO_OFFSET: not there. */
uint32_t k_btf_offset(const struct k_btf *b, const char *structure, const char *path);

#endif
