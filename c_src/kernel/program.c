/* SPDX-License-Identifier: Apache-2.0 */
/* The BPF programs of entries.def: linking and loading them, and why the verifier rejects one. */
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf_call.h"
#include "engine/probe.h"
#include "engine/state.h"
#include "kernel.h"
#include "link_input.h"
#include "prog/prog.h"
#include "program.h"

#define LOG_SIZE   (4 << 20)
#define LOG_ERRORS 4 /* and statistics, but not what was right */

/* Instructions for the loops of a function (bpf/link/bound.c), at first and in the end. */
enum { MOST_BUDGET = 16000, LOOPS_BUDGET = 4000, LEAST_BUDGET = 1000, MOST_FOLLOWED = 400000 };

const struct k_program k_programs[] = {
#define ENTRY(name, type, attach, context, flags, probes, ...)                                     \
	{"k_" #name, BPF_PROG_TYPE_##type, attach, flags, probes, {__VA_ARGS__}},
#include "entries.def"
};

static bool has_clause(const struct en_probe *p, unsigned index)
{
	const struct en_ecblist *l = p != NULL ? atomic_load(&p->ecbs) : NULL;

	for (unsigned i = 0; l != NULL && i < l->n; i++)
		if (l->ecb[i].index == index)
			return true;
	return false;
}

/* The clauses of an entry's program, and those of ERROR. */
static struct ebpf_program *clauses_of(
	struct en *en, enum k_entry entry, const struct k_own *own, unsigned *n)
{
	struct ebpf_program *all = calloc(en->prog->nclauses + 1, sizeof(*all));
	const struct en_ecblist *l;

	*n = 0;
	if (all == NULL || !(k_programs[entry].flags & K_CLAUSES))
		return all;
	if (en->error_probe != NULL && (l = atomic_load(&en->error_probe->ecbs)) != NULL)
		for (unsigned i = 0; i < l->n; i++)
			en->kernel->programs[l->ecb[i].index] = UINT64_MAX;
	for (unsigned i = 0; i < en->prog->nclauses; i++)
		if (own != NULL ? has_clause(own->probe, i) || has_clause(en->error_probe, i)
				: en->kernel->programs[i] >> entry & 1)
			all[(*n)++] = (struct ebpf_program){
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
static int not_verified(char *log, const union bpf_attr *attr, const struct k_program *p,
	unsigned nclauses, bool window, int why, struct et_error *e)
{
	size_t len = strlen(log);
	char *last;

	while (len > 0 && log[len - 1] == '\n')
		log[--len] = '\0';
	if (strstr(log, "bpf_probe_write_user") != NULL)
		return et_err(e, ET_KERNEL,
			"copyout() and copyoutstr() at probes of the kernel: this kernel does not "
			"let BPF programs write to the memory of others");
	if (is_too_large(log, why))
		return et_err(e, ET_KERNEL,
			"the script is too large for the kernel: its %u clause%s at %s probes are "
			"%u "
			"instructions there, and it accepts at most 1000000; use fewer or shorter "
			"clauses, or trace with several commands at the same time%s",
			nclauses, nclauses == 1 ? "" : "s", p->probes, attr->insn_cnt,
			window ? " (before Linux 6.9 every turn of a loop counts)" : "");
	last = strstr(log, "\nverification time ");
	if (last == NULL)
		last = strstr(log, "\nprocessed ");
	if (last != NULL)
		*last = '\0';
	last = strrchr(log, '\n');
	last = last != NULL ? last + 1 : log;
	return et_err(e, ET_KERNEL, "the kernel does not accept the program (%s): %s", p->function,
		last[0] != '\0' ? last : strerror(why));
}

/*
 * The program's fd. Why it was refused is asked for only then: to say so costs the verifier time.
 * TOO_LARGE: it is, which is not told, because there is another way.
 */
enum { TOO_LARGE = -2 };

/* One on its way into the kernel. */
struct k_load {
	struct ebpf_link_input *in;
	const struct k_program *program;
	const struct k_own *own; /* or NULL */
	bool one_by_one; /* uprobe.c, fbt/kfunc.c */
	bool last;	 /* there is no other way */
};

static int load_program(union bpf_attr *attr, const struct k_load *how, struct et_error *e)
{
	bool last = how->last;
	char *log;
	int fd;

	fd = k_bpf(BPF_PROG_LOAD, attr);
	if (fd >= 0)
		return fd;
	if (errno == E2BIG && !last)
		return TOO_LARGE;
	if (errno == EPERM || (log = calloc(1, LOG_SIZE)) == NULL)
		return k_refused(e, "a BPF program");
	attr->log_buf = (uint64_t)(uintptr_t)log;
	attr->log_size = LOG_SIZE;
	attr->log_level = LOG_ERRORS;
	fd = k_bpf(BPF_PROG_LOAD, attr);
	if (fd < 0 && !last && is_too_large(log, errno))
		fd = TOO_LARGE;
	else if (fd < 0)
		not_verified(log, attr, how->program, how->in->nprograms, how->in->window != 0,
			errno, e);
	free(log);
	return fd;
}

/* The types of a program's functions: the fd of their BTF. */
static int load_types(struct ebpf_image *im, struct et_error *e)
{
	union bpf_attr attr = {0};
	size_t size;
	void *btf = ebpf_image_types(im, "clause", &size, e);
	int fd;

	if (btf == NULL)
		return -1;
	attr.btf = (uint64_t)(uintptr_t)btf;
	attr.btf_size = (uint32_t)size;
	fd = k_bpf(BPF_BTF_LOAD, &attr);
	free(btf);
	if (fd < 0)
		return et_err(e, ET_KERNEL, "the kernel refuses the types of a program: %m");
	return fd;
}

/* The program's fd. */
static int load_image(struct ebpf_image *im, const struct k_load *how, struct et_error *e)
{
	const struct k_program *p = how->program;
	union bpf_attr attr = {.prog_type = (uint32_t)p->type,
		.expected_attach_type = how->one_by_one ? 0 : (uint32_t)p->attach,
		.prog_flags = how->in->sleeps ? BPF_F_SLEEPABLE : 0,
		.license = (uint64_t)(uintptr_t) "GPL",
		.prog_name = "erltrace",
		.insns = (uint64_t)(uintptr_t)im->insns,
		.insn_cnt = im->ninsns};
	struct bpf_func_info *info;
	int btf = load_types(im, e), fd = -1;

	if (how->own != NULL) {
		attr.attach_btf_id = how->own->btf_id;
		attr.attach_btf_obj_fd = (uint32_t)how->own->btf_fd;
	}

	if (btf < 0)
		return -1;
	info = calloc(im->nparts + 1, sizeof(*info));
	if (info == NULL) {
		et_err(e, ET_NOMEM, "out of memory for the kernel's program");
		goto out;
	}
	for (unsigned i = 0; i < im->nparts; i++)
		info[i] = (struct bpf_func_info){
			.insn_off = im->parts[i].at, .type_id = im->parts[i].type};
	attr.prog_btf_fd = (uint32_t)btf;
	attr.func_info_rec_size = sizeof(*info);
	attr.func_info = (uint64_t)(uintptr_t)info;
	attr.func_info_cnt = im->nparts;
	fd = load_program(&attr, how, e);
out:
	free(info);
	close(btf);
	return fd;
}

/*
 * A verifier that follows every turn of a loop accepts fewer of them in a larger program. How many
 * it may accept is estimated; how many it does is found by trying.
 */
static int link_and_load(struct k_load *how, struct et_error *e)
{
	struct ebpf_link_input *in = how->in;
	struct ebpf_image image;
	int fd = TOO_LARGE;

	for (in->budget = in->loops ? LOOPS_BUDGET : MOST_BUDGET; fd == TOO_LARGE; in->budget /= 2) {
		how->last = in->window == 0 || in->budget <= LEAST_BUDGET;
		fd = -1;
		if (ebpf_link(in, &image, e) == 0)
			fd = !how->last && image.follows > MOST_FOLLOWED
				     ? TOO_LARGE
				     : load_image(&image, how, e);
		ebpf_image_free(&image);
	}
	return fd;
}

/* Is what it is attached to a link of its own for each site? */
static bool is_one_by_one(const struct kernel *k, enum k_entry entry)
{
	switch (k_programs[entry].attach) {
	case K_UPROBE_MULTI: return k->one_by_one;
	case BPF_TRACE_KPROBE_MULTI: return k->kprobes_one_by_one;
	default: return false;
	}
}

int k_load(struct en *en, enum k_entry entry, const struct k_own *own, struct et_error *e)
{
	struct ebpf_link_input in;
	struct ebpf_program *clauses;
	int fd;

	if (k_window(en, e) < 0)
		return -1;
	in = k_link_input(en, entry, own);
	clauses = clauses_of(en, entry, own, &in.nprograms);
	if (clauses == NULL)
		return et_err(e, ET_NOMEM, "out of memory for the kernel's program");
	in.programs = clauses;
	in.env = &en->env;
	in.strs = en->strs;
	fd = link_and_load(&(struct k_load){.in = &in,
				   .program = &k_programs[entry],
				   .own = own,
				   .one_by_one = is_one_by_one(en->kernel, entry)},
		e);
	free(clauses);
	if (fd >= 0)
		k_keep(en->kernel, fd);
	return fd;
}
