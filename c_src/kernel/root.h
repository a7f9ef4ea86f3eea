/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What user space tells the kernel's half: one structure in the arena, whose address the linker
 * puts where BPF code says k_root. And what the two have in common besides.
 */
#ifndef K_ROOT_H
#define K_ROOT_H

#include "engine/probe.h"

#define K_SYSCALLS 512	/* more than there are */
#define K_BUF	   4096 /* bytes of a slot's buffer, through which memory of others is read */
#define K_FRAMES   127	/* of a stack (a power of two, less one); behind that buffer are the kernel's and the user's */
#define K_STACKS   2048 /* bytes for both */
#define K_SLOT_BUF (K_BUF + K_STACKS)
#define K_PROFILES 64	/* profile-N that one script can have */
#define K_VTIMES   16384 /* a power of two */

/* Events of the kernel's tracepoints: kernel/sched_proc.c. */
enum k_event {
	K_ON_CPU, K_OFF_CPU, K_SLEEP, K_PREEMPT, K_WAKEUP, K_ENQUEUE, K_DEQUEUE,
	K_CREATE, K_LWP_CREATE, K_START, K_LWP_START, K_EXIT, K_LWP_EXIT,
	K_EXEC, K_EXEC_SUCCESS, K_EXEC_FAILURE, K_SIGNAL_SEND, K_SIGNAL_DISCARD, K_SIGNAL_HANDLE,
	K_SIGNAL_CLEAR, K_FAULT,
	K_EVENTS
};

/* Where the kernel has what we read of a thread (struct task_struct); UINT32_MAX: nowhere. */
struct k_offsets {
	uint32_t pid, tgid, comm, parent, cred, uid, gid, runtime, prio, cpu, signal, live,
		exit_code, nthreads, fsbase, state, exit_state, on_cpu, policy, euid, egid, mm,
		arg_start, arg_end;
	uint32_t leader, numbers, level, number, inum; /* its numbers in each name space */
	uint32_t pids; /* of a process: the numbers of its group and session, among others */
	/* open files, and the directories that make their names */
	uint32_t fs, cwd, root, files, fdtable, max_fds, fds;
	uint32_t f_path, f_flags, f_pos, path_mnt, path_dentry;
	uint32_t mnt, mnt_root, mnt_sb, mnt_parent, mountpoint;
	uint32_t d_parent, d_name, d_len, d_inode, ino, sb_type, type_name;
};

/* CPU time of a thread when it last left a CPU; and of the one that runs on a CPU. */
struct k_vtime {
	uint64_t tid, time;
};
struct k_running {
	uint64_t tid, since, time;
};

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
	uint32_t places; /* in the table of processes, as a power of two; 0: not needed */
	uint32_t port_places; /* the same for ports */
	/* where things are in the VM's structures; 0: not known */
	uint64_t atoms;	    /* the table: symbols/vm.h */
	uint64_t this_node; /* a pointer to the node that it is itself */
	uint32_t atom_len, atom_name;
	uint32_t queue_len, save; /* a process: messages that wait, and the one that is looked at */
	uint32_t driver, dist, flags; /* a port */
	uint32_t async;	  /* a driver: its callback */
	uint32_t item;	  /* a link: whom it is to */
	uint32_t offheap; /* a process, in what copying is given */
};

/* An Erlang VM, and how its threads tell what process they run: kernel/vm_probes.c. */
#define K_VMS 16
struct k_vm {
	uint32_t pid;
	uint32_t scheduler; /* from the thread's own memory on: a pointer to what it is */
	uint32_t current, number; /* in that: a pointer to the process; the scheduler's number */
	struct k_erlang how;
};

/* How the stack of an Erlang process is found, for ustack(): kernel/vm_stacks.c. By the VM's pid. */
#define K_VM_PLACES 128 /* a power of two; half of them are used at most */
struct k_vm_stacks {
	uint32_t pid; /* 0: none is here */
	uint32_t scheduler, current; /* as in k_vm */
	uint32_t stop, heap; /* in a process: its stack; its heap, and next to it the end of both */
	bool frames; /* the VM's own functions have frame pointers */
	uint64_t ranges, active; /* where modules have their code: symbols/vm.h */
	uint64_t own, own_size; /* code of the JIT that is of no Erlang function */
	uint64_t return_trace, exception_trace; /* in that: return addresses with two more words */
};
static inline uint64_t k_vm_place(uint32_t pid)
{
	return pid * 0x9e3779b97f4a7c15 >> 57;
}

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

/* Where a usdt probe has an argument. */
enum { K_ARG_NONE, K_ARG_CONSTANT, K_ARG_REGISTER, K_ARG_MEMORY };
#define K_REGS 21 /* words of registers as the kernel has them (bpf/entries.c) */
enum { REG_IP = 16, REG_CS = 17 };
#define K_REGS_OF_CURRENT 1 /* en_thread.uregs: where the thread has them, asked for when read */
struct k_usdt_arg {
	uint8_t kind;
	int8_t size;	     /* bytes; < 0: signed */
	uint8_t base, index; /* number of a word of the registers, from 1; 0: none */
	uint8_t scale;
	bool high; /* the second byte of the register */
	int64_t disp;
};

struct k_root {
	struct en *en;
	uint32_t ncpus, nslots; /* a slot for each CPU, then those for firings within firings */
	uint64_t arena, arena_size;
	uint64_t pid_ns, pid_dev; /* the command's own process numbers, in a container; 0: the kernel's */
	uint64_t zero; /* of which the verifier does not know that it is 0 */
	uint64_t wall; /* what is to be added to the monotonic clock */
	struct en_probe *sys_enter[K_SYSCALLS], *sys_exit[K_SYSCALLS];
	struct en_probe *begin_end[2]; /* where they fire in the kernel */
	struct en_probe **probe; /* by the cookie of whatever else fires */
	uint32_t nprobes;
	struct en_probe **erlang; /* by the hashes of their names: events of nodes */
	uint64_t erlang_mask;
	struct k_vm *vms; /* K_VMS */
	uint32_t nvms;
	bool only_vms; /* of samples: -N means these nodes */
	struct k_vm_stacks *vm_stacks; /* K_VM_PLACES; NULL: nobody reads ustack(), or no VM is there */
	uint32_t adds_caller[2];       /* K_ADDS_*: at push, at endbr64 */
	struct k_range *tracing;
	uint64_t ntracing;
	struct en_probe *event[K_EVENTS];
	struct en_probe *profile[K_PROFILES];
	struct k_offsets off;
	bool destructive; /* -w */
	bool asks_who;	  /* clauses want to know which thread fires */
	struct k_running *running; /* by CPU; NULL: nobody reads vtimestamp */
	struct k_vtime *vtimes;	   /* by tid: K_VTIMES */
};

#endif
