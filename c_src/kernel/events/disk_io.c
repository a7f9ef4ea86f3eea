/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The provider io: requests to disks, and threads that wait for them. bpf/disk_io.h makes the
 * events of tracepoints; the types of their arguments are translated by d/lib/io.d.
 */
#include <linux/btf.h>
#include <stddef.h>
#include <string.h>

#include "btf/btf.h"
#include "engine/probe.h"
#include "engine/provider.h"
#include "engine/state.h"
#include "event_rows.h"
#include "kernel/kernel.h"
#include "kernel/tracepoint.h"

#define IO "iorequest_t *"
static const char *const args[] = {IO, IO, IO};
static const char *const xargs[] = {"bufinfo_t *", "devinfo_t *", "fileinfo_t *"};

static const struct k_event_row rows[K_IO_EVENTS] = {
	[K_IO_START] = {"io", "start", ENTRY_disk_start, 3, args, xargs},
	[K_IO_DONE] = {"io", "done", ENTRY_disk_done, 3, args, xargs},
	[K_IO_WAIT_START] = {"io", "wait-start", ENTRY_disk_wait, 3, args, xargs},
	[K_IO_WAIT_DONE] = {"io", "wait-done", ENTRY_disk_wait, 3, args, xargs},
};

#define AT(member) offsetof(struct k_io_offsets, member)
static const struct k_member members[] = {
	{"request", "cmd_flags", AT(flags)},
	{"request", "__sector", AT(sector)},
	{"request", "__data_len", AT(bytes)},
	{"request", "bio", AT(bio)},
	{"request", "part", AT(part)},
	{"request", "q", AT(queue)},
	{"request_queue", "disk", AT(disk)},
	{"gendisk", "part0", AT(part0)},
	{"bio", "bi_io_vec", AT(vec)},
	{"bio_vec", "bv_page", AT(vec_page)},
	{"page", "mapping", AT(page_mapping)},
	{"page", "compound_head", AT(page_head)},
	{"page", "index", AT(page_index)},
	{"page", "__folio_index", AT(page_index)},
	{"address_space", "host", AT(host)},
	{"inode", "i_dentry", AT(names)},
	{"inode", "i_mode", AT(mode)},
};

extern const struct provider io_provider;

static int init(struct en *en, void **data, struct et_error *e)
{
	return k_events_init(en, &io_provider, rows, K_IO_EVENTS, data, e);
}

static int enable(struct en *en, void *data, struct en_probe *p, struct et_error *e)
{
	unsigned i = (unsigned)(uintptr_t)p->pvdata;

	if (k_prepare(en, e) < 0 || k_events_enable(en, data, p, rows, en->kernel->root->io, e) < 0)
		return -1;
	if (i == K_IO_WAIT_START || i == K_IO_WAIT_DONE)
		en->kernel->wants_tasks = true; /* who waits */
	return 0;
}

static bool is_wanted(const struct en *en)
{
	for (unsigned i = 0; en->kernel != NULL && en->kernel->root != NULL && i < K_IO_EVENTS; i++)
		if (en->kernel->root->io[i] != NULL)
			return true;
	return false;
}

/* Whether a thread waits for a disk is one bit of many. */
static int find_waits(struct k_io_offsets *o, struct et_error *e)
{
	struct btf *b = btf_open(e);
	struct btf_item m;
	struct btf_at at;

	o->waits = BTF_NOWHERE;
	if (b == NULL)
		return -1;
	if (btf_find(b, "vmlinux", "task_struct", BTF_A(BTF_KIND_STRUCT), &at))
		for (unsigned i = 0; btf_item(at, i, &m); i++)
			if (strcmp(m.name, "in_iowait") == 0) {
				o->waits = (uint32_t)(m.bit_off / 8);
				o->waits_bit = (uint32_t)(m.bit_off % 8);
			}
	btf_close(b);
	return 0;
}

static int ready(struct en *en, void *data, struct et_error *e)
{
	struct k_io_offsets *o;

	if (!is_wanted(en))
		return 0;
	o = &en->kernel->root->io_off;
	if (k_members_find(members, sizeof(members) / sizeof(*members), o, e) < 0 ||
		find_waits(o, e) < 0)
		return -1;
	if (o->bytes == BTF_NOWHERE || o->sector == BTF_NOWHERE || o->flags == BTF_NOWHERE ||
		o->waits == BTF_NOWHERE)
		return et_err(e, ET_KERNEL,
			"the structures of requests to disks of this kernel are not known");
	return k_tracepoints_load(en, data, e);
}

const struct provider io_provider = {
	.name = "io",
	.of_kernel = true,
	.init = init,
	.enable = enable,
	.ready = ready,
	.start = k_tracepoints_attach,
	.stop = k_stop,
	.fini = k_fini,
	.arena = k_arena,
};
