/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The providers sysinfo and vminfo: a probe for each of the counters that tools such as vmstat show,
 * which fires where the kernel counts. bpf/sysinfo.h makes the events. A few counters of DTrace's
 * other systems stay at 0 on Linux; their probes exist, so that scripts with them run.
 */
#include <linux/btf.h>
#include <linux/perf_event.h>
#include <string.h>

#include "btf/btf.h"
#include "engine/probe.h"
#include "engine/provider.h"
#include "engine/state.h"
#include "event_rows.h"
#include "fs_calls.h"
#include "kernel/kernel.h"
#include "kernel/tracepoint.h"

/* By how much it grows; where its value is, which is not known; the CPU. */
static const char *const args[] = {"uint64_t", "uintptr_t", "int"};

#define SYS(name, entry) {"sysinfo", name, ENTRY_##entry, 3, args, NULL}
#define VM(name, entry) {"vminfo", name, ENTRY_##entry, 3, args, NULL}
static const struct k_event_row rows[K_COUNTER_EVENTS] = {
	[K_SYS_SYSCALL] = SYS("syscall", count_enter),
	[K_SYS_SYSREAD] = SYS("sysread", count_enter),
	[K_SYS_SYSWRITE] = SYS("syswrite", count_enter),
	[K_SYS_SYSEXEC] = SYS("sysexec", count_enter),
	[K_SYS_SYSFORK] = SYS("sysfork", count_enter),
	[K_SYS_SYSVFORK] = SYS("sysvfork", count_enter),
	[K_SYS_READCH] = SYS("readch", count_exit),
	[K_SYS_WRITECH] = SYS("writech", count_exit),
	[K_SYS_PSWITCH] = SYS("pswitch", count_switch),
	[K_SYS_INV_SWTCH] = SYS("inv_swtch", count_switch),
	[K_SYS_IDLETHREAD] = SYS("idlethread", count_switch),
	[K_SYS_NTHREADS] = SYS("nthreads", count_thread),
	[K_SYS_XCALLS] = SYS("xcalls", count_xcall),
	[K_VM_AS_FAULT] = VM("as_fault", count_fault),
	[K_VM_PROT_FAULT] = VM("prot_fault", count_fault),
	[K_VM_COW_FAULT] = VM("cow_fault", count_fault),
	[K_VM_KERNEL_ASFLT] = VM("kernel_asflt", count_kfault),
	[K_VM_MAJ_FAULT] = VM("maj_fault", profile), /* by a perf event */
	[K_VM_PGIN] = VM("pgin", count_bio),
	[K_VM_PGPGIN] = VM("pgpgin", count_bio),
	[K_VM_PGOUT] = VM("pgout", count_bio),
	[K_VM_PGPGOUT] = VM("pgpgout", count_bio),
	[K_VM_FSPGIN] = VM("fspgin", count_bio),
	[K_VM_FSPGOUT] = VM("fspgout", count_bio),
	[K_VM_ANONPGIN] = VM("anonpgin", count_bio),
	[K_VM_ANONPGOUT] = VM("anonpgout", count_bio),
	[K_VM_EXECPGIN] = VM("execpgin", count_bio), /* those of programs are fspgin */
	[K_VM_EXECPGOUT] = VM("execpgout", count_bio),
	[K_VM_SCAN] = VM("scan", count_scan),
	[K_VM_DFREE] = VM("dfree", count_free),
	[K_VM_FSFREE] = VM("fsfree", count_free),
	[K_VM_ANONFREE] = VM("anonfree", count_free),
	[K_VM_EXECFREE] = VM("execfree", count_free), /* the same: fsfree */
	[K_VM_PGREC] = VM("pgrec", count_free), /* a page that is free belongs to nobody any more */
};

static const struct k_member members[] = {
	{"bio", "bi_opf", offsetof(struct k_bio_offsets, flags)},
	{"bio", "bi_iter.bi_size", offsetof(struct k_bio_offsets, bytes)},
};

extern const struct provider sysinfo_provider;

static int init(struct en *en, void **data, struct et_error *e)
{
	return k_events_init(en, &sysinfo_provider, rows, K_COUNTER_EVENTS, data, e);
}

/* A bit of bio.bi_opf, at another place in each kernel. */
static uint64_t bit_of_swap(struct et_error *e)
{
	struct btf *b = btf_open(e);
	struct btf_item item;
	struct btf_at at;
	uint64_t bit = 0;

	if (b == NULL)
		return 0;
	if (btf_find(b, "vmlinux", "req_flag_bits", BTF_A(BTF_KIND_ENUM), &at))
		for (unsigned i = 0; btf_item(at, i, &item); i++)
			if (strcmp(item.name, "__REQ_SWAP") == 0 && item.value < 64)
				bit = 1ULL << item.value;
	btf_close(b);
	return bit;
}

static int enable(struct en *en, void *data, struct en_probe *p, struct et_error *e)
{
	enum k_entry entry = rows[(uintptr_t)p->pvdata].entry;
	struct k_bio_offsets *o;

	if (entry == ENTRY_profile)
		return k_sample_add(en, p,
			&(struct k_sample){.type = PERF_TYPE_SOFTWARE,
				.config = PERF_COUNT_SW_PAGE_FAULTS_MAJ,
				.period = 1,
				.counts = true},
			e);
	if (k_prepare(en, e) < 0 ||
		k_events_enable(en, data, p, rows, en->kernel->root->counter, e) < 0)
		return -1;
	if (entry == ENTRY_count_switch)
		en->kernel->wants_tasks = true; /* which of them is the idle one */
	if (entry == ENTRY_count_enter || entry == ENTRY_count_exit)
		k_fs_calls(en->kernel->root);
	if (entry != ENTRY_count_bio)
		return 0;
	o = &en->kernel->root->bio_off;
	if (k_members_find(members, sizeof(members) / sizeof(*members), o, e) < 0)
		return -1;
	o->swap = bit_of_swap(e);
	return 0;
}

const struct provider sysinfo_provider = {
	.name = "sysinfo",
	.of_kernel = true,
	.init = init,
	.enable = enable,
	.ready = k_tracepoints_load,
	.start = k_tracepoints_attach,
	.stop = k_stop,
	.fini = k_fini,
	.arena = k_arena,
};
