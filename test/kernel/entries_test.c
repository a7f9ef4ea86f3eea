/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's half as it is built: every program of entries.def and every runtime function that
 * clauses call is in it, each program links, and all helpers that are called are in helpers.def.
 */
#include <stdlib.h>
#include <string.h>

#include "bpf/link/piece.h"
#include "kernel/kernel.h"
#include "kernel/link_input.h"
#include "kernel/program.h"
#include "prog/rt.h"
#include "checks.h"

/* Without clauses: the function itself and all that it calls. */
static void links(const struct kernel *k, enum k_entry entry)
{
	struct ebpf_link_input in = k_link_input(k, entry);
	struct et_error e = {.tag = ""};
	struct ebpf_image image;
	int rc;

	in.left_out = NULL;
	rc = ebpf_link(&in, &image, &e);
	ok(rc == 0 && image.ninsns > 0, k_programs[entry].function, e.text);
	et_err_clear(&e);
	ebpf_image_free(&image);
}

static bool knows_helpers(const struct ebpf_func *f)
{
	for (unsigned i = 0; i < f->n; i++)
		if (f->insns[i].code == EBPF_CALL && f->insns[i].src != PSEUDO_CALL &&
			flow_helper_args(f->insns[i].imm) < 0)
			return false;
	return true;
}

int main(void)
{
	struct et_error e = {.tag = ""};
	struct k_root root = {0};
	struct kernel k = {.root = &root, .nbufs = 1};
	const char *const *fns;

	if (k_object_load(&k.object, &e) < 0)
		return 1;
	fns = k_link_input(&k, 0).fns;
	for (unsigned i = 0; i < RT_COUNT_; i++)
		if (strncmp(fns[i], "rt_term_", 8) != 0 &&
			strncmp(fns[i], "rt_source_", 10) != 0) /* terms are inside nodes only */
			ok(ebpf_object_find(&k.object, fns[i]) >= 0, fns[i],
				"is not in the kernel's half");
	for (unsigned i = 0; i < ENTRY_COUNT_; i++)
		if (ok(ebpf_object_find(&k.object, k_programs[i].function) >= 0,
			    k_programs[i].function, "is not in the kernel's half"))
			links(&k, i);
	for (unsigned i = 0; i < k.object.n; i++)
		ok(knows_helpers(&k.object.funcs[i]), k.object.funcs[i].name,
			"calls a helper of the kernel that is not in c_src/bpf/link/helpers.def");
	ebpf_object_free(&k.object);
	return finish();
}
