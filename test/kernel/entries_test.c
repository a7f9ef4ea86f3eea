/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's half as it is built: every program of entries.def and every runtime function that
 * clauses call is in it, and a program links with each of them.
 */
#include <stdlib.h>

#include "kernel/link.h"
#include "kernel/program.h"
#include "checks.h"

static const char *const rt_names[] = {
#define RT(name, ...) #name,
#include "prog/rt.def"
};

/* Without clauses: the function itself and all that it calls. */
static void links(const struct k_object *o, enum k_entry entry)
{
	struct k_input in = {.object = o, .entry = entry, .erlang = true, .nbufs = 1};
	struct et_error e = {.tag = ""};
	struct k_output out;
	int rc = k_link(&in, &out, &e);

	ok(rc == 0 && out.ninsns > 0, k_programs[entry].function, e.text);
	et_err_clear(&e);
	free(out.insns);
	free(out.parts);
}

int main(void)
{
	struct et_error e = {.tag = ""};
	struct k_object o;

	if (k_object_load(&o, &e) < 0)
		return 1;
	for (unsigned i = 0; i < RT_COUNT_; i++)
		ok(o.rt[i] >= 0, rt_names[i], "is not in the kernel's half");
	for (unsigned i = 0; i < ENTRY_COUNT_; i++)
		if (ok(o.entry[i] >= 0, k_programs[i].function, "is not in the kernel's half"))
			links(&o, i);
	k_object_free(&o);
	return finish();
}
