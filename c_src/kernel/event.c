/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The providers sched and proc: threads coming to CPUs and leaving them, processes made, changed,
 * signalled and ended. They have the names that DTrace gave them, as far as a tracepoint of Linux
 * is at the same place; bpf/event.h makes of each tracepoint the probes that it stands for.
 */
#include <linux/bpf.h>
#include <stdlib.h>

#include "engine/probe.h"
#include "engine/provider.h"
#include "engine/slot.h"
#include "engine/state.h"
#include "load.h"

static const struct {
	const char *name, *entry; /* the function of bpf/ */
} points[] = {
	{"sched_switch", "k_switch"}, {"sched_waking", "k_waking"}, {"sched_wakeup", "k_wakeup"},
	{"sched_wakeup_new", "k_wakeup"}, {"sched_process_fork", "k_fork"},
	{"sched_process_exec", "k_exec"}, {"sched_process_exit", "k_exit"},
	{"signal_generate", "k_signal"}, {"signal_deliver", "k_deliver"},
	{"sys_enter", "k_proc_enter"}, {"sys_exit", "k_proc_exit"},
};
enum {
	SWITCH, WAKING, WAKEUP, WAKEUP_NEW, FORK, EXEC, EXIT, SIGNAL, DELIVER, ENTER, LEAVE,
	NPOINTS
};

#define TASK "kthread_t *"
static const char *const task_args[] = {TASK, TASK, "int"};
static const char *const thread_args[] = {"lwpsinfo_t *", "psinfo_t *", "int"};
static const char *const queue_args[] = {"lwpsinfo_t *", "psinfo_t *", "cpuinfo_t *"};
static const char *const process_args[] = {"psinfo_t *"};
static const char *const path_args[] = {"string"};
static const char *const int_args[] = {"int"};
static const char *const handle_args[] = {"int", "uintptr_t", "uintptr_t"};

static const struct {
	const char *prov, *name;
	unsigned point;
	int nargs;
	const char *const *args, *const *xargs;
} events[K_EVENTS] = {
	[K_ON_CPU] = {"sched", "on-cpu", SWITCH, 0, NULL, NULL},
	[K_OFF_CPU] = {"sched", "off-cpu", SWITCH, 2, task_args, thread_args},
	[K_SLEEP] = {"sched", "sleep", SWITCH, 0, NULL, NULL},
	[K_PREEMPT] = {"sched", "preempt", SWITCH, 0, NULL, NULL},
	[K_WAKEUP] = {"sched", "wakeup", WAKING, 2, task_args, thread_args},
	[K_ENQUEUE] = {"sched", "enqueue", WAKEUP, 3, task_args, queue_args},
	[K_DEQUEUE] = {"sched", "dequeue", SWITCH, 3, task_args, queue_args},
	[K_CREATE] = {"proc", "create", FORK, 1, task_args, process_args},
	[K_LWP_CREATE] = {"proc", "lwp-create", FORK, 2, task_args, thread_args},
	[K_START] = {"proc", "start", LEAVE, 0, NULL, NULL},
	[K_LWP_START] = {"proc", "lwp-start", LEAVE, 0, NULL, NULL},
	[K_EXIT] = {"proc", "exit", EXIT, 1, int_args, NULL},
	[K_LWP_EXIT] = {"proc", "lwp-exit", EXIT, 0, NULL, NULL},
	[K_EXEC] = {"proc", "exec", ENTER, 1, path_args, NULL},
	[K_EXEC_SUCCESS] = {"proc", "exec-success", EXEC, 0, NULL, NULL},
	[K_EXEC_FAILURE] = {"proc", "exec-failure", LEAVE, 1, int_args, NULL},
	[K_SIGNAL_SEND] = {"proc", "signal-send", SIGNAL, 3, task_args, thread_args},
	[K_SIGNAL_DISCARD] = {"proc", "signal-discard", SIGNAL, 3, task_args, thread_args},
	[K_SIGNAL_HANDLE] = {"proc", "signal-handle", DELIVER, 3, handle_args, NULL},
	[K_SIGNAL_CLEAR] = {"proc", "signal-clear", LEAVE, 1, int_args, NULL},
	[K_FAULT] = {"proc", "fault", SIGNAL, 2, handle_args, NULL},
};

struct state {
	bool wanted[NPOINTS];
	int prog[NPOINTS];
};

extern const struct provider event_provider;

static int init(struct en *en, void **data, struct et_error *e)
{
	*data = calloc(1, sizeof(struct state));
	if (*data == NULL)
		return et_err(e, "ET_MEMORY", "out of memory");
	for (unsigned i = 0; i < K_EVENTS && !en->opts->inside; i++) {
		struct en_probe *p = en_probe_add(en, &event_provider, (void *)(uintptr_t)i,
			events[i].prov, "vmlinux", "", events[i].name);

		if (p == NULL)
			return et_err(e, "ET_MEMORY", "out of memory for probes");
		p->nargs = events[i].nargs;
		p->argtypes = events[i].args;
		p->xargtypes = events[i].xargs;
	}
	return 0;
}

static int enable(struct en *en, void *data, struct en_probe *p, struct et_error *e)
{
	unsigned i = (unsigned)(uintptr_t)p->pvdata;
	struct en_probe *shared = k_share_probe(en, p, e);
	struct state *s = data;

	if (shared == NULL)
		return -1;
	en->kernel->root->event[i] = shared;
	en->kernel->wants_tasks = true;
	s->wanted[events[i].point] = true;
	if (i == K_ENQUEUE) /* of threads that are new, too */
		s->wanted[WAKEUP_NEW] = true;
	if (events[i].point == SWITCH)
		en->kernel->sees_switches = true;
	return 0;
}

static int ready(struct en *en, void *data, struct et_error *e)
{
	struct state *s = data;

	for (unsigned i = 0; i < NPOINTS; i++) {
		if (!s->wanted[i])
			continue;
		if (i == WAKEUP_NEW)
			s->prog[i] = s->prog[WAKEUP];
		else
			s->prog[i] =
				k_load(en, points[i].entry, BPF_PROG_TYPE_RAW_TRACEPOINT, 0, e);
		if (s->prog[i] < 0)
			return -1;
	}
	return 0;
}

/* Ends before beginnings: who is seen to begin is seen to end, but not the other way round. */
static int start(struct en *en, void *data, struct et_error *e)
{
	struct state *s = data;

	for (unsigned i = NPOINTS; i-- > 0;)
		if (s->wanted[i] && k_attach_raw(en, s->prog[i], points[i].name, e) < 0)
			return -1;
	return 0;
}

const struct provider event_provider = {
	.name = "sched",
	.init = init,
	.enable = enable,
	.ready = ready,
	.start = start,
	.stop = k_stop,
	.fini = k_fini,
	.arena = k_arena,
};
