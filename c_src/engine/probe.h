/* SPDX-License-Identifier: Apache-2.0 */
/* Probes, the clauses enabled at them, and how they are fired. */
#ifndef EN_PROBE_H
#define EN_PROBE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "bpf/ebpf.h"
#include "current.h"
#include "str.h"

struct en;
struct en_ecblist;
struct prog_clause;
struct provider;

/* An enabled clause at a probe. */
struct en_ecb {
	uint32_t id; /* of the probe: the two are copied at once into struct fire */
	uint32_t epid;
	uint32_t index; /* of the clause in its program */
	ebpf_entry entry; /* machine code; NULL: interpret */
	const struct prog_clause *clause;
	struct en_probe *probe;
};

struct en_probe {
	uint32_t id;
	const struct et_str *prov, *mod, *func, *name;
	const struct provider *pv;
	void *pvdata;	  /* the provider's own */
	struct en *en;
	uint16_t argmask; /* arguments that enabled clauses read: build no others */
	uint16_t nomask;  /* those they read that the probe does not have: 0 */
	uint32_t pbis;	  /* the same of provider built-ins: bits PBI_* */
	bool reads_vts, reads_ustack, reads_stack;
	/* Enabled clauses in program order; NULL: none. Replaced as a whole (see above). */
	_Atomic(struct en_ecblist *) ecbs;
	int nargs;
	const char *const *argtypes;
	const char *const *xargtypes;
	const uint8_t *argmap;
	bool own_types; /* argtypes and its texts are freed with the probe */
	bool absent;	  /* cannot be enabled: note says why */
	const char *note; /* what is to be known of it, or NULL */
	const char *func_alias; /* descriptions may say this for the function too, or NULL */
	const char *mod_aliases; /* the same for the module: some, one behind the other, then "" */
	uint64_t hash; /* of its four names */
};
struct en_ecblist {
	unsigned n;
	bool quick; /* one, of machine code, with all its arguments, on any CPU: fire_quick */
	struct en_ecb ecb[];
};

/*
 * Fire: run the probe's clauses. arg: 10 values, of which those in p->argmask are set; strmask:
 * which of them are the text member of a struct et_str. Any thread; nothing enabled: returns
 * at once. Never fails; what goes wrong is counted or becomes an ERROR record.
 */
void en_fire(struct en_probe *p, const uint64_t *arg, unsigned strmask, const struct en_current *cur);
/*
 * The same as so many firings, all at once and not on the probe path (times.c): all clauses of the
 * probe must be countable. Somebody else has counted them; they may be told after exit(). false:
 * there is no slot for this thread, nothing was done.
 */
bool en_fire_times(struct en_probe *p, const uint64_t *arg, unsigned strmask,
	const struct en_current *cur, uint64_t times);
void en_fire_in(struct en_probe *p, const uint64_t *arg, unsigned phase); /* BEGIN and END */
bool en_countable(struct en_probe *p);
static inline bool en_enabled(struct en_probe *p)
{
	return atomic_load_explicit(&p->ecbs, memory_order_acquire) != NULL;
}

#endif
