/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The providers sched and proc: threads that get and leave CPUs, processes that are created,
 * change, get signals and end. Their probes have DTrace's names where Linux has a tracepoint for
 * the same event; bpf/sched_proc.h turns tracepoints into probes.
 */
#include "engine/probe.h"
#include "engine/provider.h"
#include "engine/state.h"
#include "event_rows.h"
#include "kernel/kernel.h"
#include "kernel/tracepoint.h"

#define TASK "kthread_t *"
static const char *const task_args[] = {TASK, TASK, "int"};
static const char *const thread_args[] = {"lwpsinfo_t *", "psinfo_t *", "int"};
static const char *const queue_args[] = {"lwpsinfo_t *", "psinfo_t *", "cpuinfo_t *"};
static const char *const process_args[] = {"psinfo_t *"};
static const char *const path_args[] = {"string"};
static const char *const int_args[] = {"int"};
static const char *const handle_args[] = {"int", "uintptr_t", "uintptr_t"};

static const struct k_event_row events[K_EVENTS] = {
	[K_ON_CPU] = {"sched", "on-cpu", ENTRY_switch, 0, NULL, NULL},
	[K_OFF_CPU] = {"sched", "off-cpu", ENTRY_switch, 2, task_args, thread_args},
	[K_SLEEP] = {"sched", "sleep", ENTRY_switch, 0, NULL, NULL},
	[K_PREEMPT] = {"sched", "preempt", ENTRY_switch, 0, NULL, NULL},
	[K_WAKEUP] = {"sched", "wakeup", ENTRY_waking, 2, task_args, thread_args},
	[K_ENQUEUE] = {"sched", "enqueue", ENTRY_wakeup, 3, task_args, queue_args},
	[K_DEQUEUE] = {"sched", "dequeue", ENTRY_switch, 3, task_args, queue_args},
	[K_CREATE] = {"proc", "create", ENTRY_fork, 1, task_args, process_args},
	[K_LWP_CREATE] = {"proc", "lwp-create", ENTRY_fork, 2, task_args, thread_args},
	[K_START] = {"proc", "start", ENTRY_proc_exit, 0, NULL, NULL},
	[K_LWP_START] = {"proc", "lwp-start", ENTRY_proc_exit, 0, NULL, NULL},
	[K_EXIT] = {"proc", "exit", ENTRY_exit, 1, int_args, NULL},
	[K_LWP_EXIT] = {"proc", "lwp-exit", ENTRY_exit, 0, NULL, NULL},
	[K_EXEC] = {"proc", "exec", ENTRY_proc_enter, 1, path_args, NULL},
	[K_EXEC_SUCCESS] = {"proc", "exec-success", ENTRY_exec, 0, NULL, NULL},
	[K_EXEC_FAILURE] = {"proc", "exec-failure", ENTRY_proc_exit, 1, int_args, NULL},
	[K_SIGNAL_SEND] = {"proc", "signal-send", ENTRY_signal, 3, task_args, thread_args},
	[K_SIGNAL_DISCARD] = {"proc", "signal-discard", ENTRY_signal, 3, task_args, thread_args},
	[K_SIGNAL_HANDLE] = {"proc", "signal-handle", ENTRY_deliver, 3, handle_args, NULL},
	[K_SIGNAL_CLEAR] = {"proc", "signal-clear", ENTRY_proc_exit, 1, int_args, NULL},
	[K_FAULT] = {"proc", "fault", ENTRY_signal, 2, handle_args, NULL},
};

extern const struct provider sched_provider;

static int init(struct en *en, void **data, struct et_error *e)
{
	return k_events_init(en, &sched_provider, events, K_EVENTS, data, e);
}

static int enable(struct en *en, void *data, struct en_probe *p, struct et_error *e)
{
	if (k_prepare(en, e) < 0 ||
		k_events_enable(en, data, p, events, en->kernel->root->event, e) < 0)
		return -1;
	en->kernel->wants_tasks = true;
	if (events[(uintptr_t)p->pvdata].entry == ENTRY_switch)
		en->kernel->sees_switches = true;
	return 0;
}

const struct provider sched_provider = {
	.name = "sched",
	.of_kernel = true,
	.confinable = true,
	.init = init,
	.enable = enable,
	.ready = k_tracepoints_load,
	.start = k_tracepoints_attach,
	.stop = k_stop,
	.fini = k_fini,
	.arena = k_arena,
};
