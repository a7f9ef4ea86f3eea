/* SPDX-License-Identifier: Apache-2.0 */
/* Probes, the clauses enabled at them, and how they are fired. */
#ifndef EN_PROBE_H
#define EN_PROBE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "bpf/ebpf.h"
#include "current.h"
#include "prog/uses.h"
#include "str.h"

struct en;
struct en_ecblist;
struct prog_clause;
struct provider;

/* An enabled clause at a probe. */
struct en_ecb {
	uint32_t id; /* of the probe; copied with epid into struct fire, in one go */
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
	void *pvdata;	  /* private to the provider */
	struct en *en;
	uint16_t argmask; /* arguments that enabled clauses read: make no others */
	uint16_t nomask;  /* arguments read that the probe does not have: 0 */
	/* Enabled clauses in program order; NULL: none. Replaced as a whole. */
	_Atomic(struct en_ecblist *) ecbs;
	int nargs;
	const char *const *argtypes;
	const char *const *xargtypes;
	const uint8_t *argmap;
	uint32_t has; /* provider built-ins: bits PBI_*; unless its provider sets it, all */
	bool own_types; /* argtypes and its strings are freed with the probe */
	bool absent;	  /* cannot be enabled: note says why */
	const char *note; /* a remark for -l and errors, or NULL */
	const char *func_alias; /* another name for the function in descriptions, or NULL */
	const char *mod_aliases; /* the same for the module: a list of strings, ended by "" */
	uint64_t hash; /* of its four names */
	struct prog_uses uses; /* of all enabled clauses */
};
struct en_ecblist {
	unsigned n;
	bool quick; /* one clause, JIT-compiled, all arguments present, any CPU: fire_quick */
	struct en_ecb ecb[];
};

/*
 * Fire: run the probe's clauses. arg: 10 values, of which those in p->argmask are set; strmask:
 * which of them are the text of a struct et_str. From any thread; returns at once if nothing is
 * enabled. Never fails: what goes wrong is counted or becomes an ERROR record.
 */
void en_fire(
	struct en_probe *p, const uint64_t *arg, unsigned strmask, const struct en_current *cur);
/*
 * Account for many firings at once, which somebody else has counted; not on the probe path
 * (times.c). All clauses of the probe must be countable. Also possible after exit(). false: no slot
 * is left for this thread, and nothing was done.
 */
bool en_fire_times(struct en_probe *p, const uint64_t *arg, unsigned strmask,
	const struct en_current *cur, uint64_t times);
/*
 * Fire at another time than now; not on the probe path. phase:
 * of state.h. fire_at.c
 */
void en_fire_at(struct en_probe *p, const uint64_t *arg, unsigned strmask,
	const struct en_current *cur, uint64_t ts, unsigned phase);
void en_fire_in(struct en_probe *p, const uint64_t *arg, unsigned phase); /* BEGIN and END */
bool en_countable(struct en_probe *p);
bool en_repeatable(struct en_probe *p); /* en_fire_times() does, if all is as at one event */
static inline bool en_enabled(struct en_probe *p)
{
	return atomic_load_explicit(&p->ecbs, memory_order_acquire) != NULL;
}

#endif
