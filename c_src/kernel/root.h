/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What user space tells the kernel's half: one structure in the arena, whose address the linker
 * puts where BPF code says k_root. And what the two have in common besides.
 */
#ifndef K_ROOT_H
#define K_ROOT_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/link/cuts.h"
#include "confine.h"
#include "kernel/erlang/erlang_vm.h"
#include "kernel/events/counter_event.h"
#include "kernel/events/disk_event.h"
#include "kernel/events/file_event.h"
#include "kernel/events/lock_event.h"
#include "kernel/events/net_event.h"
#include "task_offsets.h"
#include "unwind.h"

struct en;
struct en_probe;

#define K_SYSCALLS 512	/* more than there are */
#define K_BUF	   4096 /* bytes of a slot's buffer, through which memory of others is read */
#define K_FRAMES   127	/* of a stack: a power of two, less one */
#define K_STACKS   2048 /* bytes for two of them behind that buffer: the kernel's, the user's */
#define K_SLOT_BUF (K_BUF + K_STACKS)
#define K_PROFILES 64	/* profile-N that one script can have */
#define K_CUTS	   EBPF_CUTS

/*
 * Events of sched and proc: kernel/events/sched_proc.c has a row for each. Another provider has a member
 * of its own in struct k_root.
 */
enum k_event {
	K_ON_CPU, K_OFF_CPU, K_SLEEP, K_PREEMPT, K_WAKEUP, K_ENQUEUE, K_DEQUEUE,
	K_CREATE, K_LWP_CREATE, K_START, K_LWP_START, K_EXIT, K_LWP_EXIT,
	K_EXEC, K_EXEC_SUCCESS, K_EXEC_FAILURE, K_SIGNAL_SEND, K_SIGNAL_DISCARD, K_SIGNAL_HANDLE,
	K_SIGNAL_CLEAR, K_FAULT,
	K_EVENTS
};

/*
 * What a uprobe's site is like, in its cookie above the number of the probe: where the return
 * address is, which is not by the frame pointer in a function that has just been entered.
 */
enum {
	K_SITE_SHIFT = 32,
	K_CALLER_AT = 0xff, /* so many words above the stack pointer */
	K_CALLER_KNOWN = 1 << 8,
	K_BEFORE_PUSH =
		1 << 9, /* at "push %rbp": some kernels take what is at the stack pointer for it */
	K_BEFORE_ENDBR = 1 << 10, /* the same at "endbr64" */
};
enum { K_ADDS_NOT_SEEN, K_ADDS_NOT, K_ADDS }; /* what this kernel does there, as it was seen */

/* Functions of the kernel that call BPF programs at tracepoints: none of stack()'s. Sorted. */
struct k_range {
	uint64_t start, end;
};

#define K_REGS 21 /* words of registers as the kernel has them (bpf/entries.c) */
enum { REG_IP = 16, REG_CS = 17 };
#define K_REGS_OF_CURRENT 1 /* slot_kernel.uregs: where the thread has them, asked for when read */

struct k_root {
	struct en *en;
	uint32_t cpu_slots, nslots; /* a slot for each CPU, then those for firings within firings */
	uint64_t arena, arena_size;
	/* the command's own process numbers, in a container; 0: the kernel's */
	uint64_t pid_ns, pid_dev;
	uint64_t zero; /* of which the verifier does not know that it is 0 */
	/* functions that a bound of their loops has ended, by CPU: bpf/link/bound.c */
	uint64_t cut[K_CUTS], cut_told[K_CUTS];
	struct en_probe *sys_enter[K_SYSCALLS], *sys_exit[K_SYSCALLS];
	struct en_probe *begin_end[2]; /* where they fire in the kernel: test/hooks/begin_end.c */
	struct en_probe **probe; /* by the cookie of whatever else fires */
	uint32_t nprobes;
	struct en_probe **erlang; /* by the hashes of their names: events of nodes */
	uint64_t erlang_mask;
	struct k_vm *vms; /* K_VMS */
	uint32_t nvms;
	bool only_vms; /* of samples: -N means these nodes */
	/* K_VM_SLOTS; NULL: nobody reads ustack(), or no VM is there */
	struct k_vm_stacks *vm_stacks;
	struct k_unwind *unwind;       /* NULL: nobody reads ustack() */
	uint32_t adds_caller[2];       /* K_ADDS_*: at push, at endbr64 */
	struct k_range *tracing;
	uint64_t ntracing;
	struct en_probe *event[K_EVENTS];
	struct en_probe *net[K_NET_EVENTS];
	struct en_probe *io[K_IO_EVENTS];
	struct en_probe *counter[K_COUNTER_EVENTS];
	struct en_probe *lock[K_LOCK_EVENTS];
	struct k_lock_wait *lock_waits; /* K_LOCK_WAITS; NULL: nobody asks for them */
	struct en_probe *fs[K_FS_EVENTS];
	struct k_fs_call fs_call[K_SYSCALLS]; /* all of them, if one of these probes is enabled */
	uint32_t nr_unlinkat;
	struct en_probe *profile[K_PROFILES];
	uint64_t profile_counts; /* those that are counters: a bit for each */
	struct k_offsets off;
	struct k_net_offsets net_off;
	uint64_t *conns; /* sockets, K_CONNS; NULL: nobody asks whose a packet is that comes in */
	struct k_io_offsets io_off;
	struct k_bio_offsets bio_off;
	struct confine confine; /* to whom: bpf/confined.h */
	bool destructive; /* -w */
	bool uses_ids;	  /* clauses want to know which thread fires */
	bool timed;	  /* what firings cost is measured: bpf/timed.h */
	struct k_running *running; /* by CPU; NULL: nobody reads vtimestamp */
	struct k_vtime *vtimes;	   /* by tid: K_VTIMES */
};

#endif
