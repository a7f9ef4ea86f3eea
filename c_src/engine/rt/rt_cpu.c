/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPUs, for cpuinfo_t of d/lib/procfs.d: which chip and which memory node a CPU belongs to, as
 * noted at go if a clause asks. Compiled for the kernel too, which has the same table.
 */
#include "engine/fire.h"
#include "prog/builtins.h"
#include "engine/state.h"

RTFN(cpuinfo)
{
	const struct en *en = FIRE(ctx)->en;

	if (b >= en->ncpus)
		return 0;
	switch (a) {
	case FN_CPU_CHIP: return (uint64_t)(int64_t)en->cpus[b].chip;
	case FN_CPU_LGRP: return (uint64_t)(int64_t)en->cpus[b].lgrp;
	default: return (uint64_t)(int64_t)en->cpus[b].mhz;
	}
}

#ifndef __bpf__
#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#include "engine/load.h"
#include "engine/region.h"

#define SYS_CPU "/sys/devices/system/cpu/cpu%u"

/* A number in a file of the CPU; 0: there is none. */
static int number(unsigned cpu, const char *file)
{
	char path[128];
	int n = 0;
	FILE *f;

	snprintf(path, sizeof(path), SYS_CPU "/%s", cpu, file);
	f = fopen(path, "re");
	if (f == NULL)
		return 0;
	if (fscanf(f, "%d", &n) != 1)
		n = 0;
	fclose(f);
	return n;
}

/* Its memory node: the folder has a link of that name. */
static int node_of(unsigned cpu)
{
	char path[64];
	struct dirent *d;
	int node = 0;
	DIR *dir;

	snprintf(path, sizeof(path), SYS_CPU, cpu);
	dir = opendir(path);
	while (dir != NULL && (d = readdir(dir)) != NULL)
		if (sscanf(d->d_name, "node%d", &node) == 1)
			break;
	if (dir != NULL)
		closedir(dir);
	return node;
}

int en_cpus_load(struct en *en, struct et_error *e)
{
	unsigned n = (unsigned)sysconf(_SC_NPROCESSORS_CONF);
	bool wanted = false;

	for (unsigned i = 0; i < en->prog->nclauses; i++)
		wanted |= uses_fn(&en->prog->clauses[i]->uses, RT_cpuinfo);
	if (!wanted)
		return 0;
	en->cpus = en_alloc(en, n * sizeof(*en->cpus));
	if (en->cpus == NULL)
		return et_err(e, ET_NOMEM, "out of memory for the list of CPUs");
	for (unsigned i = 0; i < n; i++) {
		en->cpus[i].chip = number(i, "topology/physical_package_id");
		en->cpus[i].lgrp = node_of(i);
		en->cpus[i].mhz = number(i, "cpufreq/cpuinfo_max_freq") / 1000;
	}
	en->ncpus = n;
	return 0;
}
#endif
