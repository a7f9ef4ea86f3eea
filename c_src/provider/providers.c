/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of providers, in the order in which they make their probes and start. doc/recipes.md
 * says how to add one.
 */
#include "engine/provider.h"

extern const struct provider dtrace_provider;  /* dtrace.c */
extern const struct provider profile_provider; /* profile.c */
extern const struct provider syscall_provider; /* kernel/syscall.c */
extern const struct provider pid_provider;     /* kernel/pid.c */
extern const struct provider kernel_erlang_provider; /* kernel/kernel_erlang.c */
extern const struct provider usdt_provider;    /* kernel/usdt.c */
extern const struct provider begin_end_provider; /* test/hooks/begin_end.c */
extern const struct provider sched_provider;  /* kernel/events/sched_proc.c */
extern const struct provider rawtp_provider;  /* kernel/rawtp.c */
extern const struct provider fbt_provider;    /* kernel/fbt/fbt.c */
extern const struct provider net_provider;    /* kernel/events/net.c */
extern const struct provider io_provider;     /* kernel/events/disk_io.c */
extern const struct provider cpc_provider;    /* kernel/events/cpc.c */
extern const struct provider lockstat_provider; /* kernel/events/lockstat.c */
extern const struct provider sysinfo_provider; /* kernel/events/sysinfo.c */
extern const struct provider fsinfo_provider; /* kernel/events/fsinfo.c */
extern const struct provider tasks_provider;  /* kernel/tasks.c */
extern const struct provider unwind_provider;  /* kernel/unwind.c */
extern const struct provider replay_provider;  /* replay/replay.c */
extern const struct en_sampler k_sampler;       /* kernel/sampler.c */

#ifdef HAVE_KERNEL
const struct en_sampler *const et_sampler = &k_sampler;
#else
const struct en_sampler *const et_sampler;
#endif

const struct provider *const et_providers[] = {
	&dtrace_provider,
	&profile_provider,
	&replay_provider,
#ifdef HAVE_KERNEL
	&syscall_provider,
	&pid_provider,
	&kernel_erlang_provider,
	&usdt_provider,
#ifdef TEST_HOOKS
	&begin_end_provider,
#endif
	&sched_provider,
	&rawtp_provider,
	&fbt_provider,
	&net_provider,
	&io_provider,
	&fsinfo_provider,
	&sysinfo_provider,
	&lockstat_provider,
	&cpc_provider,
	&unwind_provider,
	&tasks_provider, /* last: clauses at the end of a thread may read its self-> */
#endif
	NULL,
};
