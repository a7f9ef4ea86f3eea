/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where Erlang VMs have the stacks of their processes, for ustack() (bpf/erlang_stack.c). The
 * layout of a process is found by looking at all of them: what looks like a stack within the heap
 * in each is one. symbols/vm_tables.c knows where they are, and what the JIT's code tells.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/clock.h"
#include "engine/region.h"
#include "engine/state.h"
#include "kernel/kernel.h"
#include "proc_file.h"
#include "symbols/elf.h"
#include "symbols/vm.h"
#include "vm_stacks.h"
#include "vm_schedulers.h"

enum {
	SLOTS = 512,  /* of the table of processes that are looked at */
	WORDS = 48,   /* of a process */
	SAMPLES = 64, /* processes */
	FEWEST = 4,
	PID_MASK = 15, PID_TAG = 3,
};

#define LONGEST 5000000000ULL /* ns that are spent on looking at them: each takes some ms */

struct process {
	uint64_t word[WORDS];
};

static unsigned read_processes(const struct vm *vm, struct process *all)
{
	uint64_t at[SLOTS], table = vm_tables(vm)->processes;
	unsigned n = 0;

	if (table == 0 || !vm_read(vm, table, at, sizeof(at)))
		return 0;
	for (unsigned i = 0; i < SLOTS && n < SAMPLES; i++)
		if (at[i] % 8 == 0 && at[i] > 4096 && vm_read(vm, at[i], &all[n], sizeof(*all)) &&
			(all[n].word[0] & PID_MASK) == PID_TAG)
			n++;
	return n >= FEWEST ? n : 0;
}

/* The heap's end and the stack, the heap and where both end, the size: these belong together. */
static bool is_stack(const struct process *p, unsigned stop, unsigned heap)
{
	const uint64_t *w = p->word;

	return w[heap] != 0 && w[heap] <= w[stop - 1] && w[stop - 1] <= w[stop] &&
	       w[stop] <= w[heap + 1] && w[stop] % 8 == 0 && w[heap] < w[heap + 1] &&
	       w[heap + 1] - w[heap] == 8 * w[heap + 3];
}

/* Where the first function of a process returns to: in shared code, and the same in all. */
static uint64_t find_bottom(
	const struct vm *vm, const struct k_vm_stacks *s, const struct process *all, unsigned n)
{
	const struct vm_range *code = &vm_tables(vm)->jit.code;
	uint64_t found = 0, word;
	unsigned same = 0;

	for (unsigned i = 0; i < n; i++) {
		if (!vm_read(vm, all[i].word[s->heap / 8 + 1] - 8, &word, sizeof(word)) ||
			word < code->start || word >= code->end)
			continue;
		found = same == 0 ? word : found;
		same += word == found;
	}
	return same >= n - n / 4 ? found : 0;
}

/* With +JPperf the frame pointer comes after the stack pointer, and looks like one. */
static bool is_frame_pointer(const struct k_vm_stacks *s, unsigned at, unsigned heap)
{
	return 8 * at == s->stop + 8 && 8 * heap == s->heap;
}

/* One that runs, or ends, may be on its way from one to another. */
static bool find_words_of(const struct vm *vm, struct k_vm_stacks *s, struct process *all)
{
	unsigned n = read_processes(vm, all), most = n - n / 4, found = 0;

	for (unsigned stop = 2; n > 0 && stop < WORDS; stop++)
		for (unsigned heap = stop + 1; heap + 3 < WORDS; heap++) {
			unsigned same = 0;

			for (unsigned i = 0; i < n; i++)
				same += is_stack(&all[i], stop, heap);
			if (same < most || (found == 1 && is_frame_pointer(s, stop, heap)))
				continue;
			s->stop = 8 * stop;
			s->heap = 8 * heap;
			found++;
		}
	if (found == 1)
		s->bottom = find_bottom(vm, s, all, n);
	return found == 1;
}

static bool find_words(const struct vm *vm, struct k_vm_stacks *s)
{
	struct process *all = calloc(SAMPLES, sizeof(*all));
	bool found = all != NULL && find_words_of(vm, s, all);

	free(all);
	return found;
}

/*
 * Do the VM's own functions have frame pointers? Those that libraries may call have symbols in
 * every VM: most begin with "push %rbp; mov %rsp, %rbp".
 */
static bool has_frames(const struct vm *vm)
{
	static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa}, frame[] = {0x55, 0x48, 0x89, 0xe5};
	const struct elf *f;
	unsigned n = 0, with = 0;
	uint64_t bias;

	f = vm_program(vm, &bias);
	for (size_t i = 0; i < f->nsyms && n < SAMPLES; i++) {
		uint8_t code[8];

		if (strncmp(f->strs + f->syms[i].name, "enif_", 5) != 0 ||
			!vm_read(vm, bias + f->syms[i].value, code, sizeof(code)))
			continue;
		with += memcmp(code + (memcmp(code, endbr, 4) == 0 ? 4 : 0), frame, 4) == 0;
		n++;
	}
	return with > n / 2;
}

/* What calls NIFs and BIFs on a dirty scheduler, if the VM has a symbol for it. */
static void find_dirty(const struct vm *vm, struct k_vm_stacks *s)
{
	const struct elf *f;
	uint64_t bias;

	f = vm_program(vm, &bias);
	for (size_t i = 0; i < f->nsyms; i++)
		if (strcmp(f->strs + f->syms[i].name, "erts_dirty_process_main") == 0) {
			s->dirty = bias + f->syms[i].value;
			s->dirty_size = f->syms[i].size;
		}
}

/* NULL, or why its processes have no stacks; "": it is none. */
static const char *look_at(int pid, struct k_vm_stacks *s)
{
	struct vm *vm = vm_open(pid);
	struct vm_schedulers threads;
	const char *why;

	if (vm == NULL)
		return "";
	*s = (struct k_vm_stacks){.pid = (uint32_t)pid};
	why = vm_refusal(vm);
	if (why == NULL && !find_words(vm, s))
		why = "its processes were not found";
	if (why == NULL && !vm_schedulers_find(vm, pid, &threads))
		why = "none of its schedulers tells what process it runs";
	if (why == NULL) {
		s->scheduler = threads.scheduler;
		s->current = threads.current;
		s->ranges = vm_tables(vm)->modules;
		s->jit = vm_tables(vm)->jit;
		s->frames = has_frames(vm);
		find_dirty(vm, s);
	}
	vm_close(vm);
	return why;
}

static bool is_wanted(const struct en *en)
{
	for (unsigned i = 0; i < en->prog->nclauses; i++)
		if (en->prog->clauses[i]->uses.ustack)
			return true;
	return false;
}

static int add(struct en *en, const struct k_vm_stacks *s, struct et_error *e)
{
	struct k_root *r = en->kernel->root;
	uint64_t at = k_vm_slot(s->pid);

	if (r->vm_stacks == NULL)
		r->vm_stacks = en_alloc(en, K_VM_SLOTS * sizeof(*r->vm_stacks));
	if (r->vm_stacks == NULL)
		return et_err(e, ET_NOMEM, "out of memory for the stacks of Erlang processes");
	while (r->vm_stacks[at].pid != 0)
		at = (at + 1) % K_VM_SLOTS;
	r->vm_stacks[at] = *s;
	return 0;
}

bool k_nodes_named(const struct et_options *o)
{
	for (uint64_t i = 0; i < o->val[OPT_ERLNODE]; i++)
		if (atoi(o->str[OPT_ERLNODE][i]) == 0 && strcmp(o->str[OPT_ERLNODE][i], "*") != 0)
			return true;
	return false;
}

/*
 * VMs that nobody has named are looked at only if they are our own user's: another user may have a
 * page of such a process come from a file system of his own that never gives it, and we would wait.
 *
 */
static bool may_look(const struct en *en, int pid)
{
	return k_nodes_named(en->opts) || fi_is_ours(pid);
}

static int find_all(struct en *en, struct et_error *e)
{
	DIR *d = opendir("/proc");
	uint64_t end = en_now() + LONGEST;
	struct k_vm_stacks s;
	unsigned n = 0;
	int rc = 0;

	for (const struct dirent *de; d != NULL && rc == 0 && n < K_VM_SLOTS / 2;) {
		int pid = (de = readdir(d)) != NULL ? atoi(de->d_name) : -1;

		if (pid > 0 && en_now() > end) { /* what is called like a VM may be anything */
			en->kernel->vms_cut = true;
			break;
		}
		if (pid < 0)
			break;
		if (pid > 0 && may_look(en, pid) && look_at(pid, &s) == NULL) {
			rc = add(en, &s, e);
			n++;
		}
	}
	if (d != NULL)
		closedir(d);
	return rc;
}

int k_stacks_find(struct en *en, struct et_error *e)
{
	int target = (int)en->opts->target;
	struct k_vm_stacks s;
	const char *why;

	if (!is_wanted(en))
		return 0;
	why = target > 0 ? look_at(target, &s) : "";
	if (why == NULL)
		return add(en, &s, e);
	if (*why == '\0')
		return find_all(en, e);
	en->kernel->vm_without_stacks = why; /* others are not meant */
	return 0;
}
