/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the engine has in the kernel: the arena, the buffer, programs and their links, by the
 * system call itself. All are file descriptors: however this process ends, nothing stays.
 */
#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "array.h"
#include "engine/clock.h"
#include "engine/load.h"
#include "engine/probe.h"
#include "engine/region.h"
#include "engine/slot.h"
#include "engine/state.h"
#include "load.h"
#include "prog/prog.h"

enum { MAP_TYPE_ARENA = 33 }; /* newer than the headers that this may be built with */
#define LOG_SIZE (4 << 20)

const struct k_program k_programs[] = {
#define ENTRY(name, type, attach, context, flags, probes, ...)                                     \
	{"k_" #name, BPF_PROG_TYPE_##type, attach, flags, probes, {__VA_ARGS__}},
#include "entries.def"
};

static int bpf(int cmd, union bpf_attr *attr)
{
	return (int)syscall(SYS_bpf, cmd, attr, sizeof(*attr));
}

/* ---- what may be missing -------------------------------------------------------------- */

/* Root of another user namespace has capabilities there, which BPF does not ask for. */
const char *k_privileges(void)
{
	const ino_t first = 0xeffffffd; /* the name space that the kernel begins with */
	struct stat st;

	if (stat("/proc/self/ns/user", &st) == 0 && st.st_ino != first)
		return "root, or the capabilities CAP_BPF and CAP_PERFMON, in the initial user "
		       "namespace, "
		       "and this process is in another one (of a container, or by unshare)";
	return "root, or the capabilities CAP_BPF and CAP_PERFMON";
}

static int refused(struct et_error *e, const char *what)
{
	struct utsname host = {.release = "?"};

	int why = errno;

	if (why == EPERM || why == EACCES)
		return et_err(e, ET_PERMISSION,
			"probes of the kernel need %s: %s was refused (%s)", k_privileges(), what,
			strerror(why));
	if (why == EINVAL || why == ENOSYS || why == EOPNOTSUPP) {
		uname(&host);
		return et_err(e, ET_KERNEL,
			"probes of the kernel need Linux 6.9 or newer with CONFIG_BPF_SYSCALL and its "
			"JIT: this is Linux %s, where %s was refused (%s)",
			host.release, what, strerror(why));
	}
	return et_err(e, ET_KERNEL, "the kernel refused %s: %s", what, strerror(why));
}

/* ---- maps ----------------------------------------------------------------------------- */

static int make_arena(struct kernel *k, void *base, size_t size, struct et_error *e)
{
	union bpf_attr attr = {.map_type = MAP_TYPE_ARENA,
		.max_entries = (uint32_t)(size / 4096),
		.map_flags = BPF_F_MMAPABLE,
		.map_extra = (uint64_t)(uintptr_t)base,
		.map_name = "erltrace"};

	k->arena_fd = bpf(BPF_MAP_CREATE, &attr);
	return k->arena_fd < 0 ? refused(e, "a BPF arena") : 0;
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
	k->buf_fd = bpf(BPF_MAP_CREATE, &attr);
	return k->buf_fd < 0 ? refused(e, "a BPF map") : 0;
}

int k_arena(struct en *en, void *data, void *base, size_t size, struct et_error *e)
{
	struct kernel *k;

	(void)data;
	if (!en->opts->val[OPT_KERNEL])
		return et_err(e, ET_PERMISSION,
			"probes of the kernel are not permitted here (option kernel is off; for the "
			"page: erltrace web --kernel)");
	k = calloc(1, sizeof(*k));
	if (k == NULL)
		return et_err(e, ET_NOMEM, "out of memory");
	k->arena_fd = k->buf_fd = -1;
	en->kernel = k;
	return make_arena(k, base, size, e) < 0 ? -1 : k->arena_fd;
}

/* Numbers of threads are among the built-in variables, and say whose self-> it is. */
static bool asks_who(const struct en *en)
{
	static const enum rt_fn fns[] = {RT_var, RT_lock_state, RT_dyn_load, RT_dyn_store,
		RT_dyn_add, RT_dyn_str, RT_dyn_setstr, RT_dyn_ref, RT_dyn_new, RT_dyn_del};

	for (unsigned i = 0; i < en->prog->nclauses; i++)
		for (unsigned k = 0; k < sizeof(fns) / sizeof(*fns); k++)
			if (uses_fn(&en->prog->clauses[i]->uses, fns[k]))
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
	struct timespec wall, mono;

	if (k->root != NULL)
		return 0;
	k->root = en_alloc(en, sizeof(*k->root));
	k->programs = calloc(en->prog->nclauses + 1, sizeof(*k->programs));
	if (k->root == NULL || k->programs == NULL)
		return et_err(e, ET_NOMEM, "out of memory");
	if (make_buffer(k, en->shared.nslots, e) < 0 || k_object_load(&k->object, e) < 0)
		return -1;
	for (unsigned i = 0; i < k->object.ndata; i++) {
		struct k_data *d = &k->object.data[i];
		void *mem = en_alloc(en, d->size);

		if (mem == NULL)
			return et_err(e, ET_NOMEM, "out of memory");
		memcpy(mem, d->bytes, d->size);
		d->addr = (uint64_t)(uintptr_t)mem;
	}
	clock_gettime(CLOCK_REALTIME, &wall);
	clock_gettime(CLOCK_MONOTONIC, &mono);
	memset(&k->root->off, 0xff, sizeof(k->root->off));
	k->root->en = en;
	k->root->nslots = en->shared.nslots;
	k->root->ncpus = en->shared.nslots - SPARE_SLOTS;
	k->root->arena = (uint64_t)(uintptr_t)en;
	k->root->arena_size = en->shared.window;
	k->root->asks_who = asks_who(en);
	find_pid_ns(k->root);
	k->root->destructive = en->opts->val[OPT_DESTRUCTIVE] != 0;
	k->root->wall = (uint64_t)((wall.tv_sec - mono.tv_sec) * 1000000000LL + wall.tv_nsec - mono.tv_nsec);
	return k_tracing_find(en, e) < 0 ? -1 : k_stacks_find(en, e);
}

struct en_probe *k_share_probe(
	struct en *en, const struct en_probe *p, enum k_entry entry, struct et_error *e)
{
	struct en_probe *shared;
	const struct en_ecblist *l;

	if (k_prepare(en, e) < 0)
		return NULL;
	shared = en_probe_shared(en, p);
	if (shared == NULL) {
		et_err(e, ET_NOMEM, "out of memory for probes of the kernel");
		return NULL;
	}
	if (en->error_probe != NULL) { /* its clauses run in the same firing */
		shared->reads_stack |= en->error_probe->reads_stack;
		shared->reads_ustack |= en->error_probe->reads_ustack;
	}
	l = atomic_load(&shared->ecbs);
	for (unsigned i = 0; i < l->n; i++)
		en->kernel->programs[l->ecb[i].index] |= 1u << entry;
	return shared;
}

/* ---- programs ------------------------------------------------------------------------- */

/* The clauses of an entry's program, and those of ERROR. */
static struct k_clause *clauses_of(struct en *en, enum k_entry entry, unsigned *n)
{
	struct k_clause *all = calloc(en->prog->nclauses + 1, sizeof(*all));
	const struct en_ecblist *l;

	*n = 0;
	if (all == NULL || !(k_programs[entry].flags & K_CLAUSES))
		return all;
	if (en->error_probe != NULL && (l = atomic_load(&en->error_probe->ecbs)) != NULL)
		for (unsigned i = 0; i < l->n; i++)
			en->kernel->programs[l->ecb[i].index] = UINT32_MAX;
	for (unsigned i = 0; i < en->prog->nclauses; i++)
		if (en->kernel->programs[i] >> entry & 1)
			all[(*n)++] = (struct k_clause){
				en->prog->clauses[i]->insns, en->prog->clauses[i]->ninsns, i};
	return all;
}

/* The kernel takes, and follows, a million instructions, and so many jumps in a row. */
static bool is_too_large(const char *log, int why)
{
	return why == E2BIG || strstr(log, "BPF program is too large") != NULL ||
	       strstr(log, "is too complex") != NULL;
}

/* The last words of the verifier; why: an errno. */
static int not_verified(char *log, const union bpf_attr *attr, const struct k_input *in, int why,
	struct et_error *e)
{
	const struct k_program *p = &k_programs[in->entry];
	size_t len = strlen(log);
	char *last;

	while (len > 0 && log[len - 1] == '\n')
		log[--len] = '\0';
	if (getenv("ERLTRACE_VERIFIER") != NULL)
		fprintf(stderr, "%s\n", log);
	if (strstr(log, "bpf_probe_write_user") != NULL)
		return et_err(e, ET_KERNEL,
			"copyout() and copyoutstr() at probes of the kernel: this kernel does not "
			"let BPF programs write to the memory of others");
	if (is_too_large(log, why))
		return et_err(e, ET_KERNEL,
			"the script is too large for the kernel: its %u clause%s at %s probes are %u "
			"instructions there, and it accepts at most 1000000; use fewer or shorter "
			"clauses, or trace with several commands at the same time",
			in->nclauses, in->nclauses == 1 ? "" : "s", p->probes, attr->insn_cnt);
	last = strstr(log, "\nprocessed ");
	if (last != NULL)
		*last = '\0';
	last = strrchr(log, '\n');
	last = last != NULL ? last + 1 : log;
	return et_err(e, ET_KERNEL, "the kernel does not accept the program (%s): %s", p->function,
		last[0] != '\0' ? last : strerror(why));
}

/* For those who work on it: what the verifier has to do; with 2 in the environment, all of it. */
static void show_work(union bpf_attr attr, const char *function)
{
	bool all = strcmp(getenv("ERLTRACE_VERIFIER"), "2") == 0;
	uint32_t size = all ? 512u << 20 : 4096;
	char *log = calloc(1, size);
	int fd;

	if (log == NULL)
		return;
	attr.log_buf = (uint64_t)(uintptr_t)log;
	attr.log_size = size;
	attr.log_level = all ? 2 : 4;
	fd = bpf(BPF_PROG_LOAD, &attr);
	if (fd >= 0)
		close(fd);
	fprintf(stderr, "%s: %u instructions, %u functions; %s", function, attr.insn_cnt,
		attr.func_info_cnt, log);
	free(log);
}

/* The program's fd. Why it was refused is asked for only then: to say so costs the verifier time. */
static int load_program(union bpf_attr *attr, const struct k_input *in, struct et_error *e)
{
	bool show = getenv("ERLTRACE_VERIFIER") != NULL;
	char *log;
	int fd;

	if (show)
		show_work(*attr, k_programs[in->entry].function);
	fd = bpf(BPF_PROG_LOAD, attr);
	if (fd >= 0)
		return fd;
	if (errno == EPERM || (log = calloc(1, LOG_SIZE)) == NULL)
		return refused(e, "a BPF program");
	if (show)
		fprintf(stderr, "%m\n");
	attr->log_buf = (uint64_t)(uintptr_t)log;
	attr->log_size = LOG_SIZE;
	attr->log_level = 1;
	fd = bpf(BPF_PROG_LOAD, attr);
	if (fd < 0)
		not_verified(log, attr, in, errno, e);
	free(log);
	return fd;
}

int k_load(struct en *en, enum k_entry entry, struct et_error *e)
{
	const struct k_program *p = &k_programs[entry];
	struct kernel *k = en->kernel;
	struct k_input in = {.object = &k->object,
		.env = &en->env,
		.strs = en->strs,
		.entry = entry,
		.erlang = k->root->vm_stacks != NULL,
		.arena_fd = k->arena_fd,
		.buf_fd = k->buf_fd,
		.root = (uint64_t)(uintptr_t)k->root,
		.nbufs = k->nbufs};
	union bpf_attr attr = {.prog_type = (uint32_t)p->type,
		.expected_attach_type = (uint32_t)p->attach,
		.prog_flags = p->flags & K_SLEEPS ? BPF_F_SLEEPABLE : 0,
		.license = (uint64_t)(uintptr_t) "GPL",
		.prog_name = "erltrace"};
	struct k_clause *clauses = clauses_of(en, entry, &in.nclauses);
	struct k_output out = {0};
	struct bpf_func_info *info = NULL;
	int fd = -1, btf = -1;

	in.clauses = clauses;
	if (clauses == NULL)
		return et_err(e, ET_NOMEM, "out of memory for the kernel's program");
	if (k_link(&in, &out, e) < 0 || (btf = k_types(&out, e)) < 0)
		goto out;
	info = calloc(out.nparts + 1, sizeof(*info));
	for (unsigned i = 0; info != NULL && i < out.nparts; i++)
		info[i] = (struct bpf_func_info){.insn_off = out.parts[i].at, .type_id = 3 + 2 * i};
	attr.insns = (uint64_t)(uintptr_t)out.insns;
	attr.insn_cnt = out.ninsns;
	attr.prog_btf_fd = (uint32_t)btf;
	attr.func_info_rec_size = sizeof(*info);
	attr.func_info = (uint64_t)(uintptr_t)info;
	attr.func_info_cnt = out.nparts;
	fd = load_program(&attr, &in, e);
out:
	free(clauses);
	free(out.insns);
	free(out.parts);
	free(info);
	if (btf >= 0)
		close(btf);
	if (fd >= 0)
		k_keep(k, fd);
	return fd;
}

void k_keep(struct kernel *k, int fd)
{
	if (ARRAY_ROOM(k->fds, k->nfds)) /* else it is closed when the process ends */
		k->fds[k->nfds++] = fd;
}

int k_attach_raw(struct en *en, int prog, const char *tracepoint, struct et_error *e)
{
	union bpf_attr attr = {.raw_tracepoint = {
				       .name = (uint64_t)(uintptr_t)tracepoint, .prog_fd = (uint32_t)prog}};
	int fd = bpf(BPF_RAW_TRACEPOINT_OPEN, &attr);

	if (fd < 0)
		return refused(e, tracepoint);
	k_keep(en->kernel, fd);
	return 0;
}

int k_run(int prog, const uint64_t *ctx, unsigned n, struct et_error *e)
{
	union bpf_attr attr = {.test = {.prog_fd = (uint32_t)prog,
				       .ctx_in = (uint64_t)(uintptr_t)ctx,
				       .ctx_size_in = 8 * n}};

	return bpf(BPF_PROG_TEST_RUN, &attr) < 0 ? refused(e, "a run of a BPF program") : 0;
}

/* A perf event, to which a program is bound that finds the cookie with it. */
int k_attach_perf(struct en *en, int prog, struct perf_event_attr *attr, int cpu, uint64_t cookie,
	struct et_error *e)
{
	int fd = (int)syscall(SYS_perf_event_open, attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC), link;
	union bpf_attr to = {.link_create = {.prog_fd = (uint32_t)prog,
				     .target_fd = (uint32_t)fd,
				     .attach_type = BPF_PERF_EVENT,
				     .perf_event = {.bpf_cookie = cookie}}};

	if (fd < 0)
		return refused(e, "a perf event");
	k_keep(en->kernel, fd);
	link = bpf(BPF_LINK_CREATE, &to);
	if (link < 0)
		return refused(e, "a program at a perf event");
	k_keep(en->kernel, link);
	return 0;
}

/* Off: links and programs first, the last opened first. */
void k_detach(struct en *en)
{
	struct kernel *k = en->kernel;

	while (k != NULL && k->nfds > 0)
		close(k->fds[--k->nfds]);
	if (k != NULL)
		k->uloaded = 0;
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
	if (k->arena_fd >= 0)
		close(k->arena_fd);
	k_object_free(&k->object);
	k_uprobe_free(k);
	free(k->fds);
	free(k->programs);
	free(k);
	en->kernel = NULL;
}

void k_fini(struct en *en, void *data)
{
	free(data);
	k_close(en);
}
