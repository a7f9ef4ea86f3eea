/* SPDX-License-Identifier: Apache-2.0 */
/*
 * For the tests of the engine: programs made by hand. A world is an engine with one probe,
 * test:::p; its first clause does nothing but call back into the test, so that a test can use
 * the runtime functions inside of a real firing (inside()).
 */
#ifndef ENGINE_ENV_H
#define ENGINE_ENV_H

#include <stdlib.h>
#include <string.h>

#include "compiler.h"
#include "engine/tables/agg.h"
#include "engine/tables/dyn.h"
#include "engine/engine.h"
#include "engine/load.h"
#include "engine/probe.h"
#include "engine/provider.h"
#include "engine/region.h"
#include "engine/rt/rt_str.h"
#include "engine/safe.h"
#include "engine/slot.h"
#include "engine/tables/spec.h"
#include "engine/work.h"
#include "prog/aggfn.h"
#include "checks.h"

#ifdef __SANITIZE_ADDRESS__
#define WITH_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define WITH_ASAN 1
#endif
#endif
#ifndef WITH_ASAN
#define WITH_ASAN 0
#endif

#define MOST 32

struct world {
	struct et_options opts;
	struct et_error error;
	struct en *en;
	struct en_probe *p;
	struct prog prog;
	struct prog_clause *clauses[MOST], clause[MOST];
	struct d_pdesc desc[MOST];
	struct prog_var *vars[MOST], var[MOST];
	struct prog_agg *aggs[MOST], agg[MOST];
	struct prog_val keys[2 * MOST][4];
	unsigned nkeys;
	struct {
		const char *s;
		uint32_t len;
	} strs[MOST];
};

static const struct d_type type_int = {.kind = T_INT, .size = 8};
static const struct d_type type_string = {.kind = T_STRING, .size = 256};
static const struct d_type type_struct = {.kind = T_STRUCT, .size = 24, .complete = true};

/* ---- clauses -------------------------------------------------------------------------- */

/* The beginning of a clause: the firing is kept in r6. */
static inline struct ebpf_asm *code(void)
{
	struct ebpf_asm *a = ebpf_asm_new();

	ebpf_emit(a, EBPF_MOV64_REG, R6, R1, 0, 0);
	return a;
}

static inline void call(struct ebpf_asm *a, enum rt_fn fn)
{
	ebpf_emit(a, EBPF_MOV64_REG, R1, R6, 0, 0);
	ebpf_call(a, fn);
}

/* A clause at the probes that a name describes. */
static inline struct prog_clause *add_clause(struct world *w, const char *name, struct ebpf_asm *a)
{
	unsigned i = w->prog.nclauses++;
	struct prog_clause *c = &w->clause[i];

	ebpf_emit(a, EBPF_MOV64_IMM, R0, 0, 0, 0);
	ebpf_emit(a, EBPF_EXIT, 0, 0, 0, 0);
	w->desc[i] = (struct d_pdesc){.prov = "", .mod = "", .func = "", .name = name};
	*c = (struct prog_clause){.descs = &w->desc[i], .file = "", .line = 1};
	c->uses = (struct prog_uses){.args = 0x3ff, .fns = {UINT64_MAX, UINT64_MAX}};
	for (unsigned fn = RT_term_source; fn <= RT_term_same; fn++) /* not in the kernel */
		c->uses.fns[fn / 64] &= ~(1ULL << fn % 64);
	if (ebpf_finish(a, &c->insns, &c->ninsns, &c->lines, &w->error) < 0)
		abort();
	ebpf_asm_free(a);
	w->clauses[i] = c;
	return c;
}

/* A clause that records arg0 in 8 bytes. */
static inline struct prog_clause *add_recorder(struct world *w, const char *name)
{
	struct ebpf_asm *a = code();
	struct prog_clause *c;

	ebpf_emit(a, EBPF_LDXDW, R2, R6, offsetof(struct fire, arg[0]), 0);
	ebpf_emit(a, EBPF_LDXDW, R3, R6, offsetof(struct fire, rec), 0);
	ebpf_emit(a, EBPF_STXDW, R3, R2, 0, 0);
	call(a, RT_rec_end);
	c = add_clause(w, name, a);
	c->has_record = true;
	c->rec_size = 8;
	return c;
}

/* One call of a function with a constant second argument. */
static inline struct prog_clause *add_call(
	struct world *w, const char *name, enum rt_fn fn, int32_t r2)
{
	struct ebpf_asm *a = code();

	ebpf_emit(a, EBPF_MOV64_IMM, R2, 0, 0, r2);
	call(a, fn);
	return add_clause(w, name, a);
}

/* ---- tables --------------------------------------------------------------------------- */

/* Keys by letters: i number, s string, b 16 bytes. */
static inline struct prog_val *add_keys(struct world *w, const char *keys)
{
	struct prog_val *k = w->keys[w->nkeys++];

	for (unsigned i = 0; keys[i] != '\0'; i++)
		k[i] = (struct prog_val){.kind = keys[i] == 'i'	  ? V_INT
						 : keys[i] == 's' ? V_STR
								  : V_BYTES,
			.size = keys[i] == 'b' ? 16 : 8};
	return k;
}

static inline unsigned add_var(
	struct world *w, enum d_scope scope, const struct d_type *type, const char *keys)
{
	unsigned i = w->prog.nvars++;

	w->var[i] = (struct prog_var){.name = "v",
		.scope = (uint8_t)scope,
		.assoc = true,
		.type = type,
		.size = (uint32_t)type->size,
		.nkeys = (uint8_t)strlen(keys),
		.keys = add_keys(w, keys)};
	w->vars[i] = &w->var[i];
	return i;
}

static inline unsigned add_agg(struct world *w, unsigned fn, const char *keys, uint64_t p0,
	uint64_t p1, uint64_t p2, uint64_t p3)
{
	unsigned i = w->prog.naggs++;

	w->agg[i] = (struct prog_agg){.name = "a",
		.fn = (uint16_t)fn,
		.nkeys = (uint8_t)strlen(keys),
		.keys = add_keys(w, keys),
		.param = {p0, p1, p2, p3}};
	w->agg[i].nbuckets = aggfn_nbuckets(&w->agg[i]);
	w->aggs[i] = &w->agg[i];
	return i;
}

/* ---- life ----------------------------------------------------------------------------- */

static inline void world_new(struct world *w)
{
	memset(w, 0, sizeof(*w));
	et_options_init(&w->opts);
	w->en = en_new(&w->opts, &w->error);
	if (w->en == NULL)
		abort();
	w->p = en_probe_add(w->en, NULL, NULL, "test", "", "", "p");
	w->prog = (struct prog){.clauses = w->clauses,
		.vars = w->vars,
		.aggs = w->aggs,
		.strs = (void *)w->strs,
		.scratch_size = 4096,
		.globals_size = 64,
		.rec_size = 64,
		.strsize = 256};
	add_call(w, "p", RT_var, BI_VTIMESTAMP);
}

static inline void world_opt(struct world *w, const char *name, const char *value)
{
	CHECK(et_setopt(&w->opts, name, value, &w->error) == 0, "%s", w->error.text);
}

static inline bool world_go(struct world *w)
{
	return CHECK(en_go(w->en, &w->prog, &w->error) == 0, "%s", w->error.text);
}

static inline void world_free(struct world *w)
{
	en_free(w->en);
	for (unsigned i = 0; i < w->prog.nclauses; i++) {
		free(w->clause[i].insns);
		free(w->clause[i].lines);
	}
	et_options_free(&w->opts);
}

static inline void fire1(struct world *w, uint64_t arg0)
{
	uint64_t arg[10] = {arg0};

	en_fire(w->p, arg, 0, NULL);
}

/* ---- inside of a firing --------------------------------------------------------------- */

struct inside {
	struct en_current cur;
	struct world *w;
	void (*fn)(struct world *w, struct fire *f, void *arg);
	void *arg;
};

static inline uint64_t run_inside(const struct en_current *cur)
{
	const struct inside *in = (const struct inside *)(const void *)cur;

	in->fn(in->w, &en_slot_get(in->w->en)->fire, in->arg);
	return 1;
}

/* Call fn in a firing; key: whose self-> variables it sees. */
static inline void inside_as(struct world *w, uint64_t key,
	void (*fn)(struct world *w, struct fire *f, void *arg), void *arg)
{
	struct inside in = {.cur = {.key = key, .vtimestamp = run_inside},
		.w = w,
		.fn = fn,
		.arg = arg};
	uint64_t args[10] = {0};

	en_fire(w->p, args, 0, &in.cur);
}

static inline void inside(
	struct world *w, void (*fn)(struct world *w, struct fire *f, void *arg), void *arg)
{
	inside_as(w, 1, fn, arg);
}

static inline uint64_t word(const void *p)
{
	return (uint64_t)(uintptr_t)p;
}

/* A small generator of numbers: tests are the same every time. */
static inline uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* ---- what was recorded ------------------------------------------------------------------ */

struct seen {
	uint64_t n, first, last, disorder, errors;
	uint32_t fault, epid;
	uint64_t stop_after;
};

static inline int see(void *arg, unsigned thread, const struct rec_head *rec)
{
	struct seen *s = arg;
	uint64_t v;

	(void)thread;
	if (rec->kind == REC_ERROR) {
		const struct rec_error *e = (const struct rec_error *)(const void *)(rec + 1);

		s->errors++;
		s->fault = e->fault;
		s->epid = rec->epid;
		return 0;
	}
	memcpy(&v, rec + 1, 8);
	if (s->n == 0)
		s->first = v;
	s->disorder += s->n > 0 && v <= s->last;
	s->last = v;
	s->n++;
	return s->stop_after != 0 && s->n % s->stop_after == 0;
}

#endif
