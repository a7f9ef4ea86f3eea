/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Perf events, on each CPU, which interrupt what runs there: a clock for profile-N, of which
 * provider/profile.c decides when its probes fire here; counters of the processor or of the kernel
 * for cpc and vminfo.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "bpf_call.h"
#include "engine/probe.h"
#include "engine/provider.h"
#include "engine/state.h"
#include "kernel.h"
#include "program.h"
#include "perf_sample.h"

extern const struct en_sampler k_sampler;

int k_sample_add(
	struct en *en, const struct en_probe *p, const struct k_sample *s, struct et_error *e)
{
	struct en_probe *shared = k_share_probe(en, p, ENTRY_profile, e);
	struct kernel *k = en->kernel;

	if (shared == NULL)
		return -1;
	if (k->nprofiles == K_PROFILES)
		return et_err(e, ET_KERNEL, "a script can have %d different profile-N and cpc probes at most",
			K_PROFILES);
	if (s->counts)
		k->root->profile_counts |= 1ULL << k->nprofiles;
	k->root->profile[k->nprofiles] = shared;
	k->sample[k->nprofiles++] = *s;
	return 0;
}

enum { CONFINED_RATE = 2000 }; /* samples a second on each CPU, of all profile-N together */

/* Every process pays for samples, also those in which the clause may not run. */
static int check_rate(struct en *en, uint64_t period, struct et_error *e)
{
	struct kernel *k = en->kernel;

	if (!en->opts->confine.on || k == NULL)
		return 0;
	k->rate += 1000000000 / period;
	if (k->rate <= CONFINED_RATE)
		return 0;
	return et_err(e, ET_PERMISSION,
		"you may trace only your own processes, and take at most %u samples a second by all "
		"profile-N of a script, since every process on the machine pays for them",
		CONFINED_RATE);
}

static int enable(struct en *en, const struct en_probe *p, uint64_t period, struct et_error *e)
{
	if (check_rate(en, period, e) < 0)
		return -1;
	return k_sample_add(en, p,
		&(struct k_sample){.type = PERF_TYPE_SOFTWARE,
			.config = PERF_COUNT_SW_CPU_CLOCK,
			.period = period},
		e);
}

static int ready(struct en *en, struct et_error *e)
{
	struct kernel *k = en->kernel;

	if (k == NULL || k->nprofiles == 0)
		return 0;
	k->profile_prog = k_load(en, ENTRY_profile, NULL, e);
	return k->profile_prog < 0 ? -1 : 0;
}

/* A perf event, to which a program is bound that finds the cookie with it. */
static int attach(struct en *en, int prog, struct perf_event_attr *attr, int cpu, uint64_t cookie,
	struct et_error *e)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC), link;
	union bpf_attr to = {.link_create = {.prog_fd = (uint32_t)prog,
				     .target_fd = (uint32_t)fd,
				     .attach_type = BPF_PERF_EVENT,
				     .perf_event = {.bpf_cookie = cookie}}};

	if (fd < 0 && (errno == ENOENT || errno == EOPNOTSUPP) && attr->type != PERF_TYPE_SOFTWARE)
		return et_err(e, ET_KERNEL,
			"cpc: this machine does not have that counter, as many virtual machines have "
			"none of the processor's; those of the kernel are there, such as page_faults");
	if (fd < 0)
		return k_refused(e, "a perf event");
	k_keep(en->kernel, fd);
	link = k_bpf(BPF_LINK_CREATE, &to);
	if (link < 0)
		return k_refused(e, "a program at a perf event");
	k_keep(en->kernel, link);
	return 0;
}

static int start_cpu(struct en *en, unsigned cpu, struct et_error *e)
{
	struct kernel *k = en->kernel;

	for (unsigned i = 0; i < k->nprofiles; i++) {
		const struct k_sample *s = &k->sample[i];
		struct perf_event_attr attr = {.type = s->type,
			.size = sizeof(attr),
			.config = s->config,
			.sample_period = s->period,
			.exclude_user = s->not_user,
			.exclude_kernel = s->not_kernel};

		if (attach(en, k->profile_prog, &attr, (int)cpu, i, e) < 0)
			return -1;
	}
	return 0;
}

/* On the CPUs that are online: "0-3,8"; where there is no /sys (a chroot), they are numbered on. */
static int start(struct en *en, struct et_error *e)
{
	const struct kernel *k = en->kernel;
	unsigned first, last;
	int rc = 0;
	FILE *f;

	if (k == NULL || k->nprofiles == 0)
		return 0;
	f = fopen("/sys/devices/system/cpu/online", "re");
	for (unsigned cpu = 0; f == NULL && cpu < sysconf(_SC_NPROCESSORS_ONLN) && rc == 0; cpu++)
		rc = start_cpu(en, cpu, e);
	while (f != NULL && rc == 0 && fscanf(f, "%u", &first) == 1) {
		last = first;
		if (fscanf(f, "-%u", &last) < 0)
			last = first;
		for (unsigned cpu = first; cpu <= last && rc == 0; cpu++)
			rc = start_cpu(en, cpu, e);
		if (fgetc(f) != ',')
			break;
	}
	if (f != NULL)
		fclose(f);
	return rc;
}

const struct en_sampler k_sampler = {
	.arena = k_arena,
	.enable = enable,
	.ready = ready,
	.start = start,
	.stop = k_detach,
	.fini = k_close,
};
