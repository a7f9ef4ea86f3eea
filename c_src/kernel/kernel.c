/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an engine has in the kernel: memory, the buffer, programs and links; and what the
 * kernel's half is told. All are file descriptors: however this process ends, nothing stays behind.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "array.h"
#include "bpf_call.h"
#include "engine/load.h"
#include "engine/probe.h"
#include "engine/provider.h"
#include "engine/region.h"
#include "engine/slot.h"
#include "engine/state.h"
#include "kernel.h"
#include "link_input.h"
#include "missed.h"
#include "prog/prog.h"
#include "tracing.h"
#include "uprobe.h"
#include "kernel/erlang/vm_stacks.h"
#include "kernel/fbt/kfunc.h"

enum { MAP_TYPE_ARENA = 33 }; /* newer than the headers that this may be built with */

/* ---- maps ----------------------------------------------------------------------------- */

static int make_arena(struct kernel *k, void *base, size_t size, struct et_error *e)
{
	union bpf_attr attr = {.map_type = MAP_TYPE_ARENA,
		.max_entries = (uint32_t)(size / 4096),
		.map_flags = BPF_F_MMAPABLE,
		.map_extra = (uint64_t)(uintptr_t)base,
		.map_name = "erltrace"};

	k->memory_fd = k_bpf(BPF_MAP_CREATE, &attr);
	if (k->memory_fd >= 0)
		return k->memory_fd;
	if (errno != EINVAL && errno != EOPNOTSUPP) /* not a type that the kernel knows */
		return k_refused(e, "a BPF arena");
	return EN_SHARE_LATE;
}

/*
 * Instead of an arena: an array of one value, which is memory and what an instruction's offset can
 * reach before it and behind it.
 */
static int make_window(uint64_t size)
{
	union bpf_attr attr = {.map_type = BPF_MAP_TYPE_ARRAY,
		.key_size = 4,
		.value_size = (uint32_t)(size + 2 * EBPF_GUARD + 4096),
		.max_entries = 1,
		.map_flags = BPF_F_MMAPABLE,
		.map_name = "erltrace"};

	return k_bpf(BPF_MAP_CREATE, &attr);
}

/* Its arguments are missing, which a kernel that knows the helper minds in another way. */
static bool has_bpf_loop(void)
{
	const struct ebpf_insn insns[] = {
		{.code = EBPF_CALL, .imm = BPF_FUNC_loop}, {.code = EBPF_EXIT}};
	union bpf_attr attr = {.prog_type = BPF_PROG_TYPE_RAW_TRACEPOINT,
		.license = (uint64_t)(uintptr_t) "GPL",
		.insns = (uint64_t)(uintptr_t)insns,
		.insn_cnt = sizeof(insns) / sizeof(*insns)};

	return k_bpf(BPF_PROG_LOAD, &attr) < 0 && errno == EACCES;
}

int k_window(struct en *en, struct et_error *e)
{
	struct kernel *k = en->kernel;
	uint64_t size = en_share_size(en);

	if (!en->shared.late)
		return 0;
	k->memory_fd = make_window(size);
	if (k->memory_fd < 0 && (errno == ENOMEM || errno == E2BIG))
		return et_err(e, ET_NOMEM,
			"the kernel has no %llu MB of memory for a BPF map: make bufsize, aggsize, "
			"specsize or dynvarsize smaller",
			(unsigned long long)size >> 20);
	if (k->memory_fd < 0)
		return k_refused(e, "a BPF map that can be mapped");
	if (en_share_late(en, k->memory_fd, EBPF_GUARD, size, e) < 0)
		return -1;
	k->window = k->root->arena_size = size;
	k->loops = has_bpf_loop();
	return 0;
}

static int make_buffer(struct kernel *k, unsigned nslots, struct et_error *e)
{
	union bpf_attr attr = {.map_type = BPF_MAP_TYPE_ARRAY,
		.key_size = 4,
		.max_entries = 1,
		.map_name = "erltrace_buf"};

	for (k->nbufs = 1; k->nbufs < nslots; k->nbufs *= 2)
		;
	attr.value_size = k->nbufs * K_SLOT_BUF;
	k->buf_fd = k_bpf(BPF_MAP_CREATE, &attr);
	return k->buf_fd < 0 ? k_refused(e, "a BPF map") : 0;
}

int k_arena(struct en *en, void *data, void *base, size_t size, struct et_error *e)
{
	struct kernel *k;

	(void)data;
	if (!en->opts->val[OPT_KERNEL])
		return et_err(e, ET_PERMISSION,
			"probes of the kernel are not permitted here (option kernel is off; for "
			"the "
			"page: erltrace web --kernel)");
	k_use_token(en->opts->bpf_token);
	k = calloc(1, sizeof(*k));
	if (k == NULL)
		return et_err(e, ET_NOMEM, "out of memory");
	k->memory_fd = k->buf_fd = -1;
	en->kernel = k;
	return make_arena(k, base, size, e);
}

/* Do clauses want to know which thread fires? Its number says whose self-> it is, too. */
static bool uses_ids(const struct en *en)
{
	static const enum rt_fn fns[] = {RT_var, RT_lock_state, RT_dyn_load, RT_dyn_store,
		RT_self_load, RT_self_store, RT_dyn_add, RT_dyn_str, RT_dyn_setstr, RT_dyn_ref,
		RT_dyn_new, RT_dyn_del};

	for (unsigned i = 0; i < en->prog->nclauses; i++)
		for (unsigned k = 0; k < sizeof(fns) / sizeof(*fns); k++)
			if (uses_fn(&en->prog->clauses[i]->uses, fns[k]))
				return true;
	return false;
}

bool k_has_self(const struct prog *p)
{
	for (unsigned i = 0; i < p->nvars; i++)
		if (p->vars[i]->scope == SC_SELF)
			return true;
	return false;
}

/* In a container processes have numbers of its own, and so has $target. */
static void find_pid_ns(struct k_root *root)
{
	const ino_t first = 0xeffffffc; /* the name space that the kernel begins with */
	struct stat st;

	if (stat("/proc/self/ns/pid", &st) < 0 || st.st_ino == first)
		return;
	root->pid_ns = st.st_ino;
	root->pid_dev = (uint64_t)major(st.st_dev) << 20 | minor(st.st_dev);
}

int k_prepare(struct en *en, struct et_error *e)
{
	struct kernel *k = en->kernel;

	if (k->root != NULL)
		return 0;
	k->root = en_alloc(en, sizeof(*k->root));
	k->programs = calloc(en->prog->nclauses + 1, sizeof(*k->programs));
	if (k->root == NULL || k->programs == NULL)
		return et_err(e, ET_NOMEM, "out of memory");
	if (make_buffer(k, en->shared.nslots, e) < 0 || k_object_load(&k->object, e) < 0)
		return -1;
	for (unsigned i = 0; i < k->object.ndata; i++) {
		struct ebpf_data *d = &k->object.data[i];
		void *mem = en_alloc(en, d->size);

		if (mem == NULL)
			return et_err(e, ET_NOMEM, "out of memory");
		memcpy(mem, d->bytes, d->size);
		d->addr = (uint64_t)(uintptr_t)mem;
	}
	memset(&k->root->off, 0xff, sizeof(k->root->off));
	k->root->en = en;
	k->root->nslots = en->shared.nslots;
	k->root->cpu_slots = en->shared.nslots - SPARE_SLOTS;
	k->root->arena = (uint64_t)(uintptr_t)en;
	k->root->arena_size = en->shared.size;
	k->root->uses_ids = uses_ids(en);
	find_pid_ns(k->root);
	k->root->confine = en->opts->confine;
	k->root->timed = en->opts->timed;
	k->root->destructive = en->opts->val[OPT_DESTRUCTIVE] != 0;
	if (k_tracing_find(en, e) < 0 || k_stacks_find(en, e) < 0)
		return -1;
	return k_unwind_find(en, e);
}

/* What the kernel does not have of terms: handles of them. */
static bool looks_into_terms(const struct prog_uses *u)
{
	static const enum rt_fn fns[] = {RT_term_source, RT_term_part, RT_source_part,
		RT_term_match, RT_source_match, RT_term_number, RT_term_scaled, RT_term_text,
		RT_term_equals, RT_term_compare, RT_term_same};

	for (unsigned i = 0; i < sizeof(fns) / sizeof(*fns); i++)
		if (uses_fn(u, fns[i]))
			return true;
	return false;
}

static void note_clauses(struct kernel *k, struct en_probe *p)
{
	const struct en_ecblist *l = atomic_load(&p->ecbs);

	if (l != NULL && l->n > k->most_clauses)
		k->most_clauses = l->n;
}

#define FLOW_PBIS (1u << PBI_FOLLOW | 1u << PBI_FLOWID | 1u << PBI_FLOWDEPTH)

struct en_probe *k_share_probe(
	struct en *en, const struct en_probe *p, enum k_entry entry, struct et_error *e)
{
	struct en_probe *shared;

	if (looks_into_terms(&p->uses)) {
		et_err(e, ET_ARGUMENT,
			"a clause at %s looks into a term, which works inside nodes only: in a "
			"script that runs in the kernel erlarg() and the like are texts, which "
			"this-> keeps by (string), and erlint() is a number",
			p->name->text);
		return NULL;
	}
	if (p->uses.pbis & FLOW_PBIS) {
		et_err(e, ET_FLOW,
			"a clause at %s has follow(), flowid, flowdepth or flow->, which work "
			"inside "
			"nodes only, and this script runs in the kernel",
			p->name->text);
		return NULL;
	}
	if (en->opts->confine.on && (p->pv == NULL || !p->pv->confinable)) {
		et_err(e, ET_PERMISSION,
			"probes of the provider %s show what is not of your own processes, and you may "
			"trace only these",
			p->prov->text);
		return NULL;
	}
	if (k_prepare(en, e) < 0)
		return NULL;
	shared = en_probe_shared(en, p);
	if (shared == NULL) {
		et_err(e, ET_NOMEM, "out of memory for probes of the kernel");
		return NULL;
	}
	if (en->error_probe != NULL) { /* its clauses run in the same firing */
		uses_add(&shared->uses, &en->error_probe->uses);
	}
	note_clauses(en->kernel, shared);
	if (en->error_probe != NULL)
		note_clauses(en->kernel, en->error_probe);
	k_may_run(en, shared, entry);
	return shared;
}

void k_may_run(struct en *en, const struct en_probe *shared, enum k_entry entry)
{
	const struct en_ecblist *l = atomic_load(&shared->ecbs);

	for (unsigned i = 0; i < l->n; i++)
		en->kernel->programs[l->ecb[i].index] |= K_ENTRY(entry);
}

/* The table doubles: the old one stays where it is, as all memory of the arena. */
int k_cookie(struct en *en, struct en_probe *shared, uint64_t *cookie, struct et_error *e)
{
	struct k_root *r = en->kernel->root;
	struct en_probe **table;

	if ((r->nprobes & (r->nprobes - 1)) == 0) {
		table = en_alloc(en, (r->nprobes ? 2 * (size_t)r->nprobes : 1) * sizeof(*table));
		if (table == NULL)
			return et_err(e, ET_NOMEM, "out of memory for probes of the kernel");
		if (r->nprobes > 0)
			memcpy(table, r->probe, r->nprobes * sizeof(*table));
		r->probe = table;
	}
	*cookie = r->nprobes;
	r->probe[r->nprobes++] = shared;
	return 0;
}

/* ---- programs and links --------------------------------------------------------------- */

void k_keep(struct kernel *k, int fd)
{
	if (ARRAY_ROOM(k->fds, k->nfds)) /* else it is closed when the process ends */
		k->fds[k->nfds++] = fd;
}

/* Off: links and programs first, the last opened first. */
void k_detach(struct en *en)
{
	struct kernel *k = en->kernel;

	k_forget_missed(en);
	while (k != NULL && k->nfds > 0)
		close(k->fds[--k->nfds]);
	if (k == NULL)
		return;
	k->uloaded = 0;
	k_kfunc_detach(k);
}

void k_stop(struct en *en, void *data)
{
	(void)data;
	k_detach(en);
}

void k_close(struct en *en)
{
	struct kernel *k = en->kernel;

	if (k == NULL)
		return;
	k_detach(en);
	if (k->buf_fd >= 0)
		close(k->buf_fd);
	if (k->memory_fd >= 0)
		close(k->memory_fd);
	ebpf_object_free(&k->object);
	k_uprobe_free(k);
	k_kfunc_free(k);
	k_unwind_free(k->unwinder);
	free(k->fds);
	free(k->tellers);
	free(k->programs);
	free(k);
	en->kernel = NULL;
}

void k_fini(struct en *en, void *data)
{
	free(data);
	k_close(en);
}
