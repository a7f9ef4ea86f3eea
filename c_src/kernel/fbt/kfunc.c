/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of the kernel as places where probes fire. Providers add them when their probes are
 * enabled; all are attached when tracing begins, entries before returns: what has entered unseen
 * does not return. There are three ways, and which of them a kernel has is found by trying:
 *
 *   trampoline   a program for each function, called by a jump at its first instruction (fentry,
 *                fexit). The cheapest when it fires, but each program is to be verified
 *   multi        one program for all entries and one for all returns (kprobe_multi)
 *   event        the same, with a perf event and an open file for each function
 *
 * A few functions get trampolines, many of them the second way, or the third. The kernel runs no
 * program at a function that the program itself calls, by a helper: it leaves that firing out, and
 * where it counts those they are drops (missed.c).
 */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "array.h"
#include "btf/btf.h"
#include "engine/probe.h"
#include "engine/state.h"
#include "kernel/bpf_call.h"
#include "kernel/kernel.h"
#include "kernel/missed.h"
#include "kernel/program.h"
#include "kfunc.h"
#include "traceable.h"

enum {
	MOST_SITES = 5000,
	FEW = 8,	     /* get trampolines, where there is another way for many */
	FEWER = 2,	     /* where a program is costly to verify */
	MOST_PROGRAMS = 200, /* where there is no other way */
	MOST_EVENTS = 1000,
};

struct site {
	const struct k_function *of;
	bool returns;
	uint64_t cookie;
	struct en_probe *shared;
	enum { NO_WAY, TRAMPOLINE, MULTI, EVENT } way;
	int prog; /* its own, of a trampoline */
};

struct k_kfuncs {
	struct site *sites;
	unsigned n, loaded;
	int kprobe[2];		       /* programs at entries and at returns; -1: not loaded */
	const struct k_function *left; /* the first of those that took no kprobe */
	unsigned nleft;
};

static const struct {
	enum k_entry trampoline, kprobe;
} entries[2] = {{ENTRY_fentry, ENTRY_kprobe}, {ENTRY_fexit, ENTRY_kretprobe}};

/* ---- sites ------------------------------------------------------------------------------ */

static struct k_kfuncs *kfuncs_of(struct kernel *k)
{
	if (k->kfuncs == NULL && (k->kfuncs = calloc(1, sizeof(*k->kfuncs))) != NULL)
		k->kfuncs->kprobe[0] = k->kfuncs->kprobe[1] = -1;
	return k->kfuncs;
}

static int add_site(struct en *en, const struct k_function *f, bool returns,
	const struct en_probe *p, struct et_error *e)
{
	struct en_probe *shared = k_share_probe(en, p, entries[returns].trampoline, e);
	struct site s = {f, returns, 0, shared, NO_WAY, -1};
	struct k_kfuncs *ks;

	if (shared == NULL)
		return -1;
	k_may_run(en, shared, entries[returns].kprobe);
	shared->pvdata = (void *)(uintptr_t)f->at; /* for stacks */
	if (k_cookie(en, shared, &s.cookie, e) < 0)
		return -1;
	ks = kfuncs_of(en->kernel);
	if (ks == NULL || !ARRAY_ROOM(ks->sites, ks->n))
		return et_err(e, ET_NOMEM, "out of memory for functions of the kernel");
	if (ks->n == MOST_SITES)
		return et_err(e, ET_KERNEL,
			"the script has probes at more than %d functions of the kernel: name fewer, as "
			"in fbt::vfs_*:entry or fbt:ext4::entry",
			MOST_SITES);
	ks->sites[ks->n++] = s;
	return 0;
}

int k_kfunc_add(struct en *en, const struct k_functions *fs, const struct k_function *f,
	bool returns, const struct en_probe *p, struct et_error *e)
{
	for (; f != NULL; f = k_function_next(fs, f))
		if (add_site(en, f, returns, p, e) < 0)
			return -1;
	return 0;
}

/* ---- what this kernel can --------------------------------------------------------------- */

/* The number of its type; 0: it has none. */
static uint32_t type_of(struct btf *b, const struct k_function *f)
{
	struct btf_at at;

	return k_function_type(b, f, &at) ? at.id : 0;
}

/* A program that does nothing. */
static int try_program(union bpf_attr attr)
{
	static const struct ebpf_insn nothing[] = {
		{.code = EBPF_MOV64_IMM, .dst = R0}, {.code = EBPF_EXIT}};

	attr.license = (uint64_t)(uintptr_t) "GPL";
	attr.insns = (uint64_t)(uintptr_t)nothing;
	attr.insn_cnt = sizeof(nothing) / sizeof(*nothing);
	return k_bpf(BPF_PROG_LOAD, &attr);
}

/* Would a program be loaded for this function? Where we may not ask, it is the real one's error. */
static bool takes_program(const struct k_own *own, bool returns)
{
	int fd = try_program((union bpf_attr){.prog_type = BPF_PROG_TYPE_TRACING,
		.expected_attach_type = returns ? BPF_TRACE_FEXIT : BPF_TRACE_FENTRY,
		.attach_btf_id = own->btf_id,
		.attach_btf_obj_fd = (uint32_t)own->btf_fd});

	if (fd < 0)
		return errno == EPERM;
	close(fd);
	return true;
}

/* Where such links are known, that there is no function "?" is another error. */
static bool has_multi(void)
{
	const char *none = "?";
	int fd = try_program((union bpf_attr){
		.prog_type = BPF_PROG_TYPE_KPROBE, .expected_attach_type = BPF_TRACE_KPROBE_MULTI});
	union bpf_attr attr = {
		.link_create = {.prog_fd = (uint32_t)fd,
			.attach_type = BPF_TRACE_KPROBE_MULTI,
			.kprobe_multi = {.cnt = 1, .syms = (uint64_t)(uintptr_t)&none}}};
	int link, why;

	if (fd < 0)
		return false;
	link = k_bpf(BPF_LINK_CREATE, &attr);
	why = errno;
	if (link >= 0)
		close(link);
	close(fd);
	return link >= 0 || (why != EOPNOTSUPP && why != EINVAL);
}

/* The number that the kernel has given to events at functions; 0: it has none. */
static uint32_t event_type(void)
{
	FILE *f = fopen("/sys/bus/event_source/devices/kprobe/type", "re");
	unsigned type = 0;

	if (f != NULL && fscanf(f, "%u", &type) != 1)
		type = 0;
	if (f != NULL)
		fclose(f);
	return type;
}

/* May we load programs for probes of the kernel at all? */
static bool may_load(void)
{
	int fd = try_program((union bpf_attr){.prog_type = BPF_PROG_TYPE_KPROBE});

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/* Can it run a program at a function? Tried at one that nobody calls; true if we may not ask. */
static bool has_trampolines(void)
{
	const struct k_function nobody = {.name = "bpf_fentry_test1", .mod = "vmlinux"};
	struct btf *b = btf_open(NULL);
	int fd = try_program((union bpf_attr){.prog_type = BPF_PROG_TYPE_TRACING,
		    .expected_attach_type = BPF_TRACE_FENTRY,
		    .attach_btf_id = type_of(b, &nobody)}),
	    link = -1, why = errno;

	if (fd >= 0) {
		link = k_bpf(BPF_LINK_CREATE,
			&(union bpf_attr){.link_create = {.prog_fd = (uint32_t)fd,
						  .attach_type = BPF_TRACE_FENTRY}});
		why = errno;
		close(fd);
	}
	if (link >= 0)
		close(link);
	btf_close(b);
	return link >= 0 || (why == EPERM && !may_load());
}

const char *k_kfunc_missing(void)
{
	if (event_type() != 0 || has_trampolines() || has_multi())
		return NULL;
	return "this kernel lets nobody trace its functions: it has no kprobes "
	       "(CONFIG_KPROBE_EVENTS), and no BPF trampolines "
	       "(CONFIG_DYNAMIC_FTRACE_WITH_DIRECT_CALLS, CONFIG_DEBUG_INFO_BTF), or refuses them "
	       "(lockdown); profile-N with stack() shows its functions at work";
}

/* ---- programs --------------------------------------------------------------------------- */

/* The descriptor of a module's types; 0: those of the kernel itself; -1: not found. */
static int types_of(const char *mod)
{
	union bpf_attr next = {0};
	char name[64];

	if (strcmp(mod, "vmlinux") == 0)
		return 0;
	while (k_bpf(BPF_BTF_GET_NEXT_ID, &next) == 0) {
		int fd = k_bpf(BPF_BTF_GET_FD_BY_ID, &(union bpf_attr){.btf_id = next.next_id});
		struct bpf_btf_info info = {
			.name = (uint64_t)(uintptr_t)name, .name_len = sizeof(name)};
		union bpf_attr ask = {.info = {.bpf_fd = (uint32_t)fd,
					      .info_len = sizeof(info),
					      .info = (uint64_t)(uintptr_t)&info}};

		next.start_id = next.next_id;
		if (fd < 0)
			continue;
		if (k_bpf(BPF_OBJ_GET_INFO_BY_FD, &ask) == 0 && info.kernel_btf &&
			strcmp(name, mod) == 0)
			return fd;
		close(fd);
	}
	return -1;
}

/* A trampoline is by name. */
static bool is_unique(const struct k_function *f)
{
	return f->same == 0 && !f->hidden;
}

/* A program of its own. 0: done; 1: it takes none; -1: *e. */
static int load_trampoline(struct en *en, struct btf *b, struct site *s, struct et_error *e)
{
	struct k_own own = {.probe = s->shared,
		.words = s->shared->argmask,
		.btf_id = is_unique(s->of) ? type_of(b, s->of) : 0};

	own.btf_fd = own.btf_id != 0 ? types_of(s->of->mod) : -1;
	if (own.btf_fd < 0)
		return 1;
	if (takes_program(&own, s->returns)) {
		s->prog = k_load(en, entries[s->returns].trampoline, &own, e);
		s->way = TRAMPOLINE;
	}
	if (own.btf_fd > 0)
		close(own.btf_fd);
	if (s->way != TRAMPOLINE)
		return 1;
	if (s->prog >= 0)
		k_count_missed(en->kernel, s->prog, false);
	return s->prog >= 0 ? 0 : -1;
}

/* The one for all sites of its kind. */
static int load_kprobe(struct en *en, struct site *s, bool multi, struct et_error *e)
{
	int *prog = &en->kernel->kfuncs->kprobe[s->returns];

	s->way = multi ? MULTI : EVENT;
	if (*prog >= 0)
		return 0;
	en->kernel->kprobes_one_by_one = !multi;
	*prog = k_load(en, entries[s->returns].kprobe, NULL, e);
	if (*prog >= 0)
		k_count_missed(en->kernel, *prog, false);
	return *prog >= 0 ? 0 : -1;
}

static int no_way(const struct site *s, struct et_error *e)
{
	const char *why = k_kfunc_missing();

	return et_err(e, ET_KERNEL, "%s`%s cannot be traced: %s", s->of->mod, s->of->name,
		why != NULL ? why
			    : "its type is not in the kernel's BTF, or the kernel refuses programs "
			      "there, and it has no kprobes (CONFIG_KPROBE_EVENTS)");
}

static int too_many(unsigned n, unsigned most, const char *because, struct et_error *e)
{
	return et_err(e, ET_KERNEL,
		"the script has probes at %u functions of the kernel, and %s: at most %u", n,
		because, most);
}

int k_kfunc_load(struct en *en, void *data, struct et_error *e)
{
	struct k_kfuncs *ks = en->kernel != NULL ? en->kernel->kfuncs : NULL;
	unsigned n = ks != NULL ? ks->n - ks->loaded : 0;
	bool multi = n > 0 && has_multi(), event = n > 0 && event_type() != 0;
	bool costly = n > 0 && (en->shared.late || en->kernel->window != 0);
	struct btf *b = n > 0 ? btf_open(NULL) : NULL;
	int rc = 0;

	(void)data;
	if (n > MOST_EVENTS && !multi && event)
		rc = too_many(n, MOST_EVENTS,
			"each is a perf event (this kernel has no CONFIG_FPROBE)", e);
	else if (n > MOST_PROGRAMS && !multi && !event)
		rc = too_many(n, MOST_PROGRAMS,
			"each has a program of its own (this kernel has no kprobes)", e);
	for (; rc == 0 && n > 0 && ks->loaded < ks->n; ks->loaded++) {
		struct site *s = &ks->sites[ks->loaded];

		rc = n <= (costly ? FEWER : FEW) || (!multi && !event)
			     ? load_trampoline(en, b, s, e)
			     : 1;
		if (rc == 1)
			rc = multi || event ? load_kprobe(en, s, multi, e) : no_way(s, e);
		if (rc < 0)
			break;
	}
	btf_close(b);
	return rc;
}

/* ---- links -------------------------------------------------------------------------------- */

static int not_attached(const struct site *s, int why, struct et_error *e)
{
	if (why == EPERM || why == EACCES)
		return et_err(e, ET_PERMISSION,
			"functions of the kernel need %s: %s was refused (%s)", k_privileges(),
			s->of->name, strerror(why));
	if (why == EMFILE)
		return et_err(e, ET_KERNEL,
			"too many functions of the kernel: each of them is an open file here, and "
			"this process may have %ld of them (ulimit -n)",
			sysconf(_SC_OPEN_MAX));
	return et_err(e, ET_KERNEL, "the kernel refused a probe at %s`%s: %s", s->of->mod,
		s->of->name, strerror(why));
}

static int attach_trampoline(struct en *en, const struct site *s)
{
	union bpf_attr attr = {
		.link_create = {.prog_fd = (uint32_t)s->prog,
			.attach_type = s->returns ? BPF_TRACE_FEXIT : BPF_TRACE_FENTRY}};
	int fd = k_bpf(BPF_LINK_CREATE, &attr);

	if (fd >= 0)
		k_keep(en->kernel, fd);
	return fd;
}

static int attach_event(struct en *en, const struct site *s)
{
	struct perf_event_attr event = {.type = event_type(),
		.size = sizeof(event),
		.config = s->returns,
		.config1 = s->of->at != 0 ? 0 : (uint64_t)(uintptr_t)s->of->name,
		.config2 = s->of->at};
	int fd = (int)syscall(SYS_perf_event_open, &event, -1, 0, -1, PERF_FLAG_FD_CLOEXEC), link,
	    why;
	union bpf_attr attr = {
		.link_create = {.prog_fd = (uint32_t)en->kernel->kfuncs->kprobe[s->returns],
			.target_fd = (uint32_t)fd,
			.attach_type = BPF_PERF_EVENT,
			.perf_event = {.bpf_cookie = s->cookie}}};

	if (fd < 0)
		return -1;
	link = k_bpf(BPF_LINK_CREATE, &attr);
	why = errno;
	close(fd); /* the link has it */
	errno = why;
	if (link >= 0) {
		k_keep(en->kernel, link);
		k_count_missed(en->kernel, link, true);
	}
	return link;
}

/* All entries, or all returns, by one link. */
static int attach_multi(struct en *en, const struct site **s, unsigned n)
{
	uint64_t *words = calloc(2 * (size_t)n, sizeof(*words));
	bool hidden = false;
	union bpf_attr attr = {
		.link_create = {.prog_fd = (uint32_t)en->kernel->kfuncs->kprobe[s[0]->returns],
			.attach_type = BPF_TRACE_KPROBE_MULTI,
			.kprobe_multi = {.cnt = n,
				.flags = s[0]->returns ? BPF_F_KPROBE_MULTI_RETURN : 0,
				.cookies = (uint64_t)(uintptr_t)(words + n)}}};
	int fd;

	if (words == NULL)
		return -1;
	for (unsigned i = 0; i < n; i++)
		hidden |= s[i]->of->at == 0;
	for (unsigned i = 0; i < n; i++) {
		words[i] = hidden ? (uint64_t)(uintptr_t)s[i]->of->name : s[i]->of->at;
		words[n + i] = s[i]->cookie;
	}
	*(hidden ? &attr.link_create.kprobe_multi.syms : &attr.link_create.kprobe_multi.addrs) =
		(uint64_t)(uintptr_t)words;
	fd = k_bpf(BPF_LINK_CREATE, &attr);
	free(words);
	if (fd >= 0) {
		k_keep(en->kernel, fd);
		k_count_missed(en->kernel, fd, true);
	}
	return fd;
}

/* A function that takes no trampoline gets a kprobe after all. */
static int load_otherwise(struct en *en, struct site *s, struct et_error *e)
{
	int why = errno;
	bool multi = has_multi();

	if (why == EPERM || why == EACCES || (!multi && event_type() == 0))
		return not_attached(s, why, e);
	return load_kprobe(en, s, multi, e);
}

/* Of many, those are left out where kprobes must not be, which the kernel says only now. */
static bool is_left_out(struct k_kfuncs *ks, const struct site *s, int why)
{
	if (ks->n == 1 || (why != EINVAL && why != EILSEQ && why != EADDRNOTAVAIL))
		return false;
	if (ks->nleft++ == 0)
		ks->left = s->of;
	return true;
}

/* Trampolines and events, one by one. */
static int attach_each(struct en *en, bool returns, struct et_error *e)
{
	struct k_kfuncs *ks = en->kernel->kfuncs;

	for (unsigned i = 0; i < ks->n; i++) {
		struct site *s = &ks->sites[i];

		if (s->returns != returns)
			continue;
		if (s->way == TRAMPOLINE && attach_trampoline(en, s) < 0 &&
			load_otherwise(en, s, e) < 0)
			return -1;
		if (s->way == EVENT && attach_event(en, s) < 0 && !is_left_out(ks, s, errno))
			return not_attached(s, errno, e);
	}
	return 0;
}

static int attach_all(struct en *en, bool returns, struct et_error *e)
{
	struct k_kfuncs *ks = en->kernel->kfuncs;
	const struct site **many = calloc(ks->n, sizeof(*many));
	unsigned n = 0;
	int rc;

	if (many == NULL)
		return et_err(e, ET_NOMEM, "out of memory for functions of the kernel");
	rc = attach_each(en, returns, e);
	for (unsigned i = 0; i < ks->n; i++)
		if (ks->sites[i].returns == returns && ks->sites[i].way == MULTI)
			many[n++] = &ks->sites[i];
	if (rc == 0 && n > 0 && attach_multi(en, many, n) < 0)
		rc = not_attached(many[0], errno, e);
	free(many);
	return rc;
}

int k_kfunc_attach(struct en *en, void *data, struct et_error *e)
{
	struct k_kfuncs *ks = en->kernel != NULL ? en->kernel->kfuncs : NULL;

	(void)data;
	if (ks == NULL || ks->n == 0)
		return 0;
	if (attach_all(en, false, e) < 0 || attach_all(en, true, e) < 0)
		return -1;
	ks->n = ks->loaded = 0; /* whoever is next has nothing to do */
	return 0;
}

/* ---- what was left out ---------------------------------------------------------------------- */

bool k_kfunc_news(struct en *en, void *data, char *buf, size_t size, bool *ended)
{
	struct k_kfuncs *ks = en->kernel != NULL ? en->kernel->kfuncs : NULL;

	(void)data;
	(void)ended;
	if (ks == NULL || ks->nleft == 0)
		return false;
	snprintf(buf, size,
		"%u function%s of the kernel, such as %s, cannot be traced by kprobes: %s left out",
		ks->nleft, ks->nleft > 1 ? "s" : "", ks->left->name,
		ks->nleft > 1 ? "they are" : "it is");
	ks->nleft = 0;
	return true;
}

/* For k_detach: their programs are closed with all others. */
void k_kfunc_detach(struct kernel *k)
{
	if (k->kfuncs != NULL)
		k->kfuncs->kprobe[0] = k->kfuncs->kprobe[1] = -1;
}

void k_kfunc_free(struct kernel *k)
{
	if (k->kfuncs == NULL)
		return;
	free(k->kfuncs->sites);
	free(k->kfuncs);
	k->kfuncs = NULL;
}
