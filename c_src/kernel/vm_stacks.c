/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where Erlang VMs have the stacks of their processes, for ustack() (bpf/erlang_stack.c). This
 * needs the symbols of the VM's program (OTP up to 28). The layout of the VM's structures is found
 * by looking at its processes: what looks like a stack within the heap in all of them is one.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/clock.h"
#include "engine/region.h"
#include "engine/state.h"
#include "kernel.h"
#include "proc_file.h"
#include "symbols/vm.h"
#include "vm_probes.h"
#include "vm_stacks.h"

enum {
	TABLE = 32,   /* words in which the VM's table of processes has where they are */
	SLOTS = 512, /* of that table which are looked at */
	WORDS = 48,   /* of a process */
	SAMPLES = 64, /* processes */
	FEWEST = 4,
	PID_MASK = 15, PID_TAG = 3,
};

#define LONGEST 5000000000ULL /* ns that are spent on looking at them: each takes some ms */

struct process {
	uint64_t word[WORDS];
};

/* Processes of a table at this address, if it is one. */
static unsigned read_processes(const struct vm *vm, uint64_t table, struct process *all)
{
	uint64_t at[SLOTS];
	unsigned n = 0;

	if (table % 8 != 0 || table < 4096 || !vm_read(vm, table, at, sizeof(at)))
		return 0;
	for (unsigned i = 0; i < SLOTS && n < SAMPLES; i++)
		if (at[i] % 8 == 0 && at[i] > 4096 && vm_read(vm, at[i], &all[n], sizeof(*all)) &&
			(all[n].word[0] & PID_MASK) == PID_TAG)
			n++;
	return n;
}

static unsigned find_processes(const struct vm *vm, struct process *all)
{
	uint64_t word[TABLE], at = vm_symbol(vm, "erts_proc");
	unsigned n = 0;

	if (at == 0 || !vm_read(vm, at, word, sizeof(word)))
		return 0;
	for (unsigned i = 0; i < TABLE && n < FEWEST; i++)
		n = read_processes(vm, word[i], all);
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

/* One that runs, or ends, may be on its way from one to another. */
static bool find_words(const struct vm *vm, struct k_vm_stacks *s)
{
	static struct process all[SAMPLES];
	unsigned n = find_processes(vm, all), most = n - n / 4, found = 0;

	for (unsigned stop = 2; n > 0 && stop < WORDS; stop++)
		for (unsigned heap = stop + 1; heap + 3 < WORDS; heap++) {
			unsigned same = 0;

			for (unsigned i = 0; i < n; i++)
				same += is_stack(&all[i], stop, heap);
			if (same < most)
				continue;
			s->stop = 8 * stop;
			s->heap = 8 * heap;
			found++;
		}
	return found == 1;
}

static uint64_t pointer(const struct vm *vm, const char *symbol)
{
	uint64_t at = vm_symbol(vm, symbol), v = 0;

	return at != 0 && vm_read(vm, at, &v, sizeof(v)) ? v : 0;
}

/* Where what is mapped at an address begins. */
static uint64_t mapping(int pid, uint64_t address)
{
	char path[64], *line = NULL;
	uint64_t start, end, found = 0;
	size_t room = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "re");
	while (f != NULL && found == 0 && getline(&line, &room, f) > 0)
		if (sscanf(line, "%" SCNx64 "-%" SCNx64, &start, &end) == 2 && address - start < end - start)
			found = start;
	free(line);
	if (f != NULL)
		fclose(f);
	return found;
}

/* What the JIT has made for itself is where it began, before the first module. */
static bool find_own(const struct vm *vm, int pid, struct k_vm_stacks *s)
{
	uint64_t in = pointer(vm, "beam_normal_exit"), end = vm_module_after(vm, in);

	s->own = in != 0 && end != 0 ? mapping(pid, in) : 0;
	s->own_size = end - s->own;
	s->return_trace = pointer(vm, "beam_return_trace");
	s->exception_trace = pointer(vm, "beam_exception_trace");
	return s->own != 0 && vm_modules(vm, &s->ranges, &s->active);
}

/* "push %rbp; mov %rsp, %rbp", at the beginning of a large function. */
static bool has_frames(const struct vm *vm)
{
	static const uint8_t endbr[] = {0xf3, 0x0f, 0x1e, 0xfa}, frame[] = {0x55, 0x48, 0x89, 0xe5};
	uint64_t at = vm_symbol(vm, "erts_schedule");
	uint8_t code[8] = {0};

	if (at == 0 || !vm_read(vm, at, code, sizeof(code)))
		return false;
	return memcmp(code + (memcmp(code, endbr, 4) == 0 ? 4 : 0), frame, 4) == 0;
}

static bool find_threads(int pid, struct k_vm_stacks *s)
{
	struct k_process *list = NULL, *p;
	struct et_error e = {.tag = ""};
	struct k_vm vm = {0};

	p = k_process(&list, pid, &e);
	for (unsigned i = 0; p != NULL && i < p->n; i++)
		if (p->mods[i].main)
			k_vm_threads(pid, &p->mods[i], &vm);
	k_processes_free(list);
	et_err_clear(&e);
	s->scheduler = vm.scheduler;
	s->current = vm.current;
	return vm.scheduler != 0;
}

static bool look_at(int pid, struct k_vm_stacks *s)
{
	struct vm *vm = vm_open(pid);
	bool found;

	*s = (struct k_vm_stacks){.pid = (uint32_t)pid};
	found = vm != NULL && find_words(vm, s) && find_own(vm, pid, s) && find_threads(pid, s);
	if (found)
		s->frames = has_frames(vm);
	vm_close(vm);
	return found;
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
 * VMs that nobody has named are looked at only if they are our own user's: another user may have
 * a page of such a process come from a file system of his own that never gives it, and we would wait.
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
		if (pid > 0 && may_look(en, pid) && look_at(pid, &s)) {
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
	struct k_vm_stacks s;

	if (!is_wanted(en))
		return 0;
	if (en->opts->target > 0 && look_at((int)en->opts->target, &s)) /* others are not meant */
		return add(en, &s, e);
	return find_all(en, e);
}
