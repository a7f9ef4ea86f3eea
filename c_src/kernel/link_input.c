/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the linker (bpf/link/) is told of the engine: the probe path as functions, what they find
 * under which name, and how clauses call them.
 */
#include <stddef.h>

#include "engine/fire.h"
#include "engine/probe.h"
#include "engine/slot.h"
#include "engine/state.h"
#include "engine/str.h"
#include "kernel.h"
#include "link_input.h"
#include "prog/builtins.h"
#include "program.h"

/* The probe path as clang has compiled it: the build makes files.S of it. */
extern const char k_files[], k_files_end[];

/* Runtime functions by their numbers. */
static const char *const rt_names[] = {
#define RT(name, ...) "rt_" #name,
#include "prog/rt.def"
};

/* Built-in variables that are a word of memory. */
static const struct ebpf_direct direct[] = {
#define OF_THREAD(which, member)                                                                   \
	{RT_var, which, offsetof(struct fire, thread), offsetof(struct en_thread, member), 4, 0}
#define OF_PROBE(which, member)                                                                    \
	{RT_strvar, which, offsetof(struct fire, probe), offsetof(struct en_probe, member), 8,     \
		STR_TAG}
	OF_THREAD(BI_PID, k.pid),
	OF_THREAD(BI_TID, tid),
	OF_PROBE(BI_PROBEPROV, prov),
	OF_PROBE(BI_PROBEMOD, mod),
	OF_PROBE(BI_PROBEFUNC, func),
	OF_PROBE(BI_PROBENAME, name),
};

/* They go through long texts or stacks, by functions. */
static const char *const deep[] = {"json_find", "k_erlang_frames", "rt_stack", NULL};

int k_object_load(struct ebpf_object *o, struct et_error *e)
{
	return ebpf_object_load(o, k_files, k_files_end, e);
}

struct ebpf_link_input k_link_input(
	const struct en *en, enum k_entry entry, const struct k_own *own)
{
	const struct kernel *k = en->kernel;
	uint64_t root = (uint64_t)(uintptr_t)k->root;
	struct ebpf_link_input in = {.object = &k->object,
		.symbol = {{"k_root", EBPF_SYM_NUMBER, root},
			{"k_buf_mask", EBPF_SYM_NUMBER, k->nbufs - 1},
			{"k_buf", EBPF_SYM_MAP, (uint32_t)k->buf_fd},
			{"k_clause", EBPF_SYM_RUN, 0}},
		.nsymbols = 4,
		.entry = k_programs[entry].function,
		.sleeps = (k_programs[entry].flags & K_SLEEPS) && !k->never_sleeps,
		.memory_fd = k->memory_fd,
		.window = k->window,
		.loops = k->loops,
		.deep = deep,
		.zero = root + offsetof(struct k_root, zero),
		.cut = root + offsetof(struct k_root, cut),
		.runs = k->most_clauses,
		.fns = rt_names,
		.direct = direct,
		.ndirect = sizeof(direct) / sizeof(*direct),
		.key = offsetof(struct fire, key)};
	unsigned n = 0;

	if (own != NULL) {
		in.symbol[in.nsymbols++] = (struct ebpf_symbol){
			"k_probe", EBPF_SYM_NUMBER, (uint64_t)(uintptr_t)own->probe};
		in.symbol[in.nsymbols++] =
			(struct ebpf_symbol){"k_words", EBPF_SYM_NUMBER, own->words};
	}
	if (k->root->vm_stacks == NULL)
		in.left_out[n++] = "k_erlang_stack";
	if (k->root->unwind == NULL)
		in.left_out[n++] = "k_unwind";
	if (!en->opts->set[OPT_ERLNODE]) /* threads of VMs are not known: kernel_erlang.c */
		in.left_out[n++] = "k_find_process";
	if (k->root->ntracing == 0)
		in.left_out[n++] = "k_tracing_frames";
	if (k->window == 0)
		in.left_out[n++] = "k_was_cut";
	else if (en->error_probe == NULL) /* stack is scarce there */
		in.left_out[n++] = "en_fire_error";
	return in;
}
