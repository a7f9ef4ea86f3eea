/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel engine: clauses at syscall, pid and other kernel probes run in the kernel, as BPF.
 *
 * There is one engine, not two. Its memory (variables, aggregations, buffers) is a BPF arena, which
 * kernel and user space map at the same addresses. What fires in the command itself (BEGIN, tick,
 * END) runs here, what fires in the kernel runs there: on the same tables, by the same C code. The
 * engine's probe path is compiled a second time, for BPF (bpf/), and linked with the clauses when
 * the program is loaded. The consumer sees no difference.
 *
 * Providers, a file each:
 *
 *   syscall.c       system calls by their names
 *   events/         providers whose probes are rows of a table (event_rows.h), each an event that
 *                   a tracepoint tells: sched_proc.c sched and proc; disk_io.c io; fsinfo.c;
 *                   sysinfo.c (vminfo too); lockstat.c; net.c tcp, udp and ip.
 *                   *_event.h: what clauses are told of one. cpc.c: perf events
 *   rawtp.c         rawtp and sdt: tracepoints by their names, typed by the kernel (c_src/btf/)
 *   pid.c           functions of a process and instructions inside of them
 *   usdt.c          probes that programs and libraries carry themselves; usdt_arg.h
 *   erlang/         kernel_erlang.c: erlang probes of a node: functions of its VM (vm_probes.c), and
 *                   events inside the node, which are handed over (handover.c) by a script that a
 *                   bridge (include/erltrace.h) has there; vm_stacks.c: Erlang VMs, and where they
 *                   have the stacks of processes; erlang_vm.h; vm_schedulers.c: how their threads
 *                   tell what process they run
 *   sampler.c       profile-N on CPUs, and other perf events: events/cpc.c
 *   fbt/            functions of the kernel: fbt.c, their provider; traceable.c: those that can be
 *                   traced; kfunc.c: programs at them
 *   tasks.c         no probes, but what clauses read of threads: fields, CPU time, self->
 *
 * What they use:
 *
 *   entries.def     the BPF programs: where each begins, what it is attached to, what it may do;
 *                   those of K_OWN are of one probe each (program.h)
 *   kernel.c        what an engine has in the kernel; bpf_call.c: the system call
 *   root.h          what user space tells the kernel's half
 *   tracepoint.c    programs at raw tracepoints
 *   uprobe.c        sites in programs and libraries where probes fire; sites.c: those of each
 *                   probe, and those in libraries that are loaded while tracing
 *   modules.c       the program and the libraries of a process; ifunc.c: functions that they
 *                   choose; x86_length.c: where instructions begin
 *   missed.c        firings that the kernel left out, as drops
 *   tracing.c       functions of the kernel that are on stacks only because of tracing
 *   unwind.c        what processes have mapped, to walk their stacks without frame pointers;
 *                   unwind_tables.c: the tables by which that is done, of their programs' .eh_frame
 *   program.c       links and loads a BPF program; link_input.c: what the linker (c_src/bpf/link/)
 *                   is told of the engine
 *
 * The memory is engine/region.c: addresses reserved when an engine is made, an arena from go on.
 * What runs in the kernel only is in bpf/:
 *
 *   entries.c       where programs begin; sched_proc.h, disk_io.h, fsinfo.h, sysinfo.h,
 *                   lockstat.h, net.h, erlang.h: those of these providers
 *   builtin_vars.c  built-in variables; task.h: fields of threads
 *   frames.c        stacks, as clauses read them; walk.c: those without frame pointers
 *   memory.c        memory of the process and of the kernel, read through a buffer (buffer.h)
 *   destructive.c   chill(), raise(), stop()
 *   thread.c        threads and their open files, for D's library
 *   packet.c        packets and connections; fs_ops.c: system calls that are about files
 *   usdt_args.c     the arguments of usdt probes
 *   confined.h      tracing for who may see only their own processes
 *   timed.h         what firings cost
 *   vm_terms.c      terms of an Erlang VM as text; erlang_stack.c: stacks of its processes
 *   std.c           functions of the C library; shim.h: what the engine's sources need for BPF;
 *                   helpers.h: BPF helpers (bpf/link/helpers.def), what these files share
 */
#ifndef K_KERNEL_H
#define K_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/link/object.h"
#include "entries.h"
#include "error.h"
#include "perf_sample.h"
#include "root.h"

struct en;
struct en_probe;
struct prog;
struct k_teller;
struct k_kfuncs;

struct kernel {
	int memory_fd, buf_fd;
	uint64_t window; /* its bytes, where the kernel has no arenas; else 0 */
	bool loops;	 /* and then: has it bpf_loop()? */
	unsigned nbufs;
	struct k_root *root;
	struct ebpf_object object;
	uint64_t *programs; /* by clause: a bit for each entry whose program may run it */
	unsigned most_clauses; /* of one probe */
	int *fds;     /* programs, links */
	unsigned nfds;
	struct k_teller *tellers; /* what counts firings that are left out: missed.c */
	unsigned ntellers;
	struct k_uprobe *uprobes; /* to be attached: uprobe.c */
	unsigned nuprobes;
	int uprog[ENTRY_COUNT_]; /* their programs */
	uint64_t uloaded;	 /* which of them are loaded: a bit for each */
	/* uprobe_multi has been tried; it is not there; nor may programs at uprobes wait */
	bool tried, one_by_one, never_sleeps;
	const char *vm_without_stacks; /* $target is a VM, and why it has none: vm_stacks.c */
	struct k_unwinder *unwinder; /* NULL: nobody reads ustack() */
	bool vms_cut; /* there are more Erlang VMs than there was time to look at: vm_stacks.c */
	bool wants_tasks, sees_switches; /* of threads: tasks.c */
	struct k_kfuncs *kfuncs; /* functions of the kernel: fbt/kfunc.c */
	bool kprobes_one_by_one; /* there is no kprobe_multi here */
	struct k_sample sample[K_PROFILES]; /* sampler.c */
	unsigned nprofiles;
	uint64_t rate; /* of profile-N, a second: sampler.c */
	int profile_prog;
};

/* The arena: as struct provider says, the same for all of them. */
int k_arena(struct en *en, void *data, void *base, size_t size, struct et_error *e);
/* A probe that is enabled, as the kernel finds it; its clauses will be in the entry's program. */
struct en_probe *k_share_probe(
	struct en *en, const struct en_probe *p, enum k_entry entry, struct et_error *e);
/* Its clauses will be in that entry's program too: which of them is attached is found by trying. */
void k_may_run(struct en *en, const struct en_probe *shared, enum k_entry entry);
/* The number by which programs find the probe that fires: an attach cookie's lower half. */
int k_cookie(struct en *en, struct en_probe *shared, uint64_t *cookie, struct et_error *e);
int k_prepare(struct en *en, struct et_error *e); /* before that, where nothing may be shared */
/* Memory is the kernel's from here on, if it was not before: when a program is to be linked. */
int k_window(struct en *en, struct et_error *e);
bool k_has_self(const struct prog *p); /* are there self-> variables? */
void k_keep(struct kernel *k, int fd);		  /* closed by k_detach, the last one first */
void k_detach(struct en *en);
void k_stop(struct en *en, void *data); /* the same, as a provider's stop */
void k_close(struct en *en);
void k_fini(struct en *en, void *data); /* the same, as a provider's fini: data is one piece */

#endif
