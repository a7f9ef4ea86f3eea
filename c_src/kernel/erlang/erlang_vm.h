/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where an Erlang VM has what probes read: found by vm_probes.c and vm_stacks.c, read by
 * bpf/vm_terms.c, bpf/erlang.h and bpf/erlang_stack.c.
 */
#ifndef K_ERLANG_VM_H
#define K_ERLANG_VM_H

#include <stdbool.h>
#include <stdint.h>

#include "symbols/vm_tables.h"

/* What the arguments of a function of an Erlang VM are made by: kernel/vm_probes.c. */
enum k_erlang_kind {
	K_MESSAGE_RECEIVE,
	K_COPY_STRUCT,
	K_COPY_OBJECT,
	K_EXIT_SIGNAL,
	K_LINK_EXIT,
	K_REMOTE_EXIT, /* by exit/2 */
	K_REMOTE_LINK_EXIT,
	K_PORT_BUSY,
	K_PORT_NOT_BUSY,
	K_DIST_OUTPUT,
	K_DIST_OUTPUTV,
	K_DIST_NOT_BUSY,
	K_DRIVER, /* what happens to a port: ready_async, process_exit */
};
struct k_erlang {
	uint32_t kind;	 /* K_* */
	uint32_t bits;	 /* of a pid's number; above is the serial */
	uint32_t process_bits; /* slots in the table of processes: log2; 0: not needed */
	uint32_t port_bits;    /* the same for ports */
	/* where things are in the VM's structures; 0: not known */
	uint64_t atoms;	    /* the table: symbols/vm_tables.h */
	uint64_t this_node; /* a pointer to the node that it is itself */
	uint32_t atom_len, atom_name, atom_text;
	uint32_t queue_len, save; /* a process: messages that wait, and the one that is looked at */
	uint32_t driver, dist, flags; /* a port */
	uint32_t async;	  /* a driver: its callback */
	uint32_t item;	  /* a link: the process at its other end */
	uint32_t offheap; /* a process, in what copying is given */
};

/* An Erlang VM, and how its threads tell what process they run: vm_schedulers.c. */
#define K_VMS 16
struct k_vm {
	uint32_t pid;
	uint32_t scheduler; /* from the thread's own memory on: a pointer to what it is */
	uint32_t current, number; /* in that: a pointer to the process; the scheduler's number */
	uint64_t program, program_end; /* where the VM's own program is in memory */
	struct k_erlang how;
};

/* How the stack of an Erlang process is found, for ustack(), by the VM's pid: vm_stacks.c. */
#define K_VM_SLOTS 128 /* a power of two; half of them are used at most */
struct k_vm_stacks {
	uint32_t pid; /* 0: none is here */
	uint32_t scheduler, current; /* as in k_vm */
	uint32_t stop, heap; /* in a process: its stack; its heap, and next to it the end of both */
	bool frames; /* the VM's own functions have frame pointers */
	uint64_t dirty, dirty_size; /* the function that runs processes on dirty schedulers, or 0 */
	uint64_t bottom; /* the last word of each stack: a return address */
	uint64_t ranges; /* where modules have their code: symbols/vm_tables.h */
	struct vm_jit jit;
};
static inline uint64_t k_vm_slot(uint32_t pid)
{
	return pid * 0x9e3779b97f4a7c15 >> 57;
}

#endif
