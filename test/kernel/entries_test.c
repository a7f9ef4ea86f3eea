/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's half as it is built: every program of entries.def and every runtime function that
 * clauses call is in it, each program links, and all helpers that are called are in helpers.def.
 * Every program that runs clauses asks whose process it is, for users who are confined to theirs
 * (bpf/confined.h). And providers are known by the names of their probes.
 */
#include <stdlib.h>
#include <string.h>

#include "bpf/link/piece.h"
#include "engine/provider.h"
#include "engine/state.h"
#include "erltrace.h"
#include "kernel/kernel.h"
#include "kernel/link_input.h"
#include "kernel/program.h"
#include "prog/rt.h"
#include "checks.h"

static bool has_part(const struct ebpf_image *im, const char *name)
{
	for (unsigned i = 0; i < im->nparts; i++)
		if (im->parts[i].name != NULL && strcmp(im->parts[i].name, name) == 0)
			return true;
	return false;
}

/* Without clauses: the function itself and all that it calls. */
static void links(const struct en *en, enum k_entry entry)
{
	struct en_probe probe = {.id = 1};
	struct k_own own = {.probe = &probe, .words = 0x3ff};
	struct ebpf_link_input in = k_link_input(
		en, entry, k_programs[entry].flags & K_OWN ? &own : NULL);
	struct et_error e = {.tag = ""};
	struct ebpf_image image;
	int rc;

	memset(in.left_out, 0, sizeof(in.left_out));
	rc = ebpf_link(&in, &image, &e);
	ok(rc == 0 && image.ninsns > 0, k_programs[entry].function, e.text);
	if (k_programs[entry].flags & K_CLAUSES)
		ok(has_part(&image, "k_may_see"), k_programs[entry].function,
			"runs clauses in processes of any user");
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

/* Who is not dtrace or profile traces the kernel, and a node has to know it by its name. */
static int is_named(void *arg, const erltrace_probe_info_t *p)
{
	unsigned *n = arg;

	if (strcmp(p->provider, "dtrace") != 0 && strcmp(p->provider, "profile") != 0) {
		if (!en_is_kernel(p->provider))
			ok(false, p->provider, "is not in c_src/provider/kernel_names.c");
		(*n)++;
	}
	return 0;
}

static void knows_names(void)
{
	erltrace_t *h = erltrace_open(NULL);
	unsigned n = 0;

	ok(h != NULL && erltrace_probes(h, NULL, is_named, &n, NULL) > 0 && n > 300,
		"probes of the kernel", "are not there");
	erltrace_close(h);
}

int main(void)
{
	struct et_error e = {.tag = ""};
	struct k_root root = {0};
	struct kernel k = {.root = &root, .nbufs = 1};
	static struct et_options opts;
	static struct en en = {.opts = &opts};
	const char *const *fns;

	if (k_object_load(&k.object, &e) < 0)
		return 1;
	en.kernel = &k;
	fns = k_link_input(&en, 0, NULL).fns;
	for (unsigned i = 0; i < RT_COUNT_; i++)
		if (strncmp(fns[i], "rt_term_", 8) != 0 &&
			strncmp(fns[i], "rt_source_", 10) != 0) /* terms are inside nodes only */
			ok(ebpf_object_find(&k.object, fns[i]) >= 0, fns[i],
				"is not in the kernel's half");
	for (unsigned i = 0; i < ENTRY_COUNT_; i++)
		if (ok(ebpf_object_find(&k.object, k_programs[i].function) >= 0,
			    k_programs[i].function, "is not in the kernel's half"))
			links(&en, i);
	for (unsigned i = 0; i < k.object.n; i++)
		ok(knows_helpers(&k.object.funcs[i]), k.object.funcs[i].name,
			"calls a helper of the kernel that is not in c_src/bpf/link/helpers.def");
	ebpf_object_free(&k.object);
	knows_names();
	return finish();
}
