/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The dtrace provider: BEGIN, END and ERROR, which the engine itself fires. It is the first
 * provider, so its probes have the ids 1, 2 and 3.
 */
#include "engine/probe.h"
#include "engine/provider.h"
#include "prog/builtins.h"

extern const struct provider dtrace_provider;

/* arg0 unused, then: epid, action, offset in the clause, fault, address */
static const char *const error_args[] = {
	"int64_t", "int64_t", "int64_t", "int64_t", "int64_t", "int64_t"};

static int init(struct en *en, void **data, struct et_error *e)
{
	static const char *const names[] = {"BEGIN", "END", "ERROR"};
	struct en_probe *p = NULL;

	*data = NULL;
	for (unsigned i = 0; i < 3; i++) {
		p = en_probe_add(en, &dtrace_provider, NULL, "dtrace", "", "", names[i]);
		if (p == NULL)
			return et_err(e, ET_NOMEM, "out of memory for probes");
		p->nargs = 0;
		p->has = ~(1u << PBI_FOLLOW); /* nobody calls anything there */
	}
	p->nargs = 6;
	p->argtypes = error_args;
	return 0;
}

const struct provider dtrace_provider = {
	.name = "dtrace",
	.replays = true,
	.init = init,
};
