/* SPDX-License-Identifier: Apache-2.0 */
/* The BPF programs of entries.def: loading them, and why the verifier rejects one. */
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf_call.h"
#include "engine/probe.h"
#include "engine/state.h"
#include "func_types.h"
#include "kernel.h"
#include "link.h"
#include "prog/prog.h"
#include "program.h"

#define LOG_SIZE (4 << 20)

const struct k_program k_programs[] = {
#define ENTRY(name, type, attach, context, flags, probes, ...)                                     \
	{"k_" #name, BPF_PROG_TYPE_##type, attach, flags, probes, {__VA_ARGS__}},
#include "entries.def"
};

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
	fd = k_bpf(BPF_PROG_LOAD, &attr);
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
	fd = k_bpf(BPF_PROG_LOAD, attr);
	if (fd >= 0)
		return fd;
	if (errno == EPERM || (log = calloc(1, LOG_SIZE)) == NULL)
		return k_refused(e, "a BPF program");
	if (show)
		fprintf(stderr, "%m\n");
	attr->log_buf = (uint64_t)(uintptr_t)log;
	attr->log_size = LOG_SIZE;
	attr->log_level = 1;
	fd = k_bpf(BPF_PROG_LOAD, attr);
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
