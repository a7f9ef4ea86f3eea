/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What bytecode may call and access, for the verifier: the runtime functions of rt.def as a table,
 * the regions of memory that the context points to, and the shapes of keys and values.
 */
#include <stddef.h>

#include "firing.h"
#include "prog.h"
#include "rt.h"

static const struct ebpf_fn fns[] = {
#define RT(n, r, a2, a3, a4, a5, flags)                                                            \
	{.name = #n,                                                                               \
		.fn = rt_##n,                                                                      \
		.arg = {EBPF_CTX, EBPF_##a2, EBPF_##a3, EBPF_##a4, EBPF_##a5},                     \
		.ret = EBPF_##r},
#include "rt.def"
};

int prog_key_parts(const struct prog_val *keys, unsigned n, struct ebpf_keypart *part)
{
	for (unsigned i = 0; i < n; i++) {
		part[i] = (struct ebpf_keypart){.kind = EBPF_SCALAR};
		switch (keys[i].kind) {
		case V_STR: part[i].kind = EBPF_STR; break;
		case V_FLOAT:
		case V_BYTES:
		case V_STACK:
			part[i].kind = EBPF_MEM;
			part[i].size = keys[i].size;
			break;
		}
	}
	return (int)n;
}

/* The aggregating function that a runtime function updates; AGG_NONE: none. */
static unsigned agg_of(unsigned fn)
{
	switch (fn) {
	case RT_agg_count: return AGG_COUNT;
	case RT_agg_sum: return AGG_SUM;
	case RT_agg_min: return AGG_MIN;
	case RT_agg_max: return AGG_MAX;
	case RT_agg_avg: return AGG_AVG;
	case RT_agg_stddev: return AGG_STDDEV;
	case RT_agg_quantize: return AGG_QUANTIZE;
	case RT_agg_lquantize: return AGG_LQUANTIZE;
	case RT_agg_llquantize: return AGG_LLQUANTIZE;
	case RT_agg_percentile: return AGG_PERCENTILE;
	default: return AGG_NONE;
	}
}

/* Is it a function for this kind of dynamic variable: number, string, or value by address? */
static bool fits(unsigned fn, const struct prog_var *v)
{
	bool is_str = v->type != NULL && d_is_string(v->type);
	bool bytes = is_str || (v->type != NULL && d_is_byref(v->type));

	switch (fn) {
	case RT_self_load:
	case RT_self_store: return !bytes && v->scope == SC_SELF && v->nkeys == 0;
	case RT_dyn_load:
	case RT_dyn_store:
	case RT_dyn_add: return !bytes;
	case RT_dyn_str:
	case RT_dyn_setstr: return is_str;
	case RT_dyn_ref:
	case RT_dyn_new: return bytes;
	default: return true;
	}
}

static int key(const struct ebpf_env *env, unsigned fn, uint64_t id,
	struct ebpf_keypart part[EBPF_MAX_KEYS])
{
	const struct prog *p = env->data;
	unsigned agg = agg_of(fn);

	if (agg != AGG_NONE) {
		if (id >= p->naggs || p->aggs[id]->fn != agg || p->aggs[id]->nkeys > PROG_MAX_KEYS)
			return -1;
		return prog_key_parts(p->aggs[id]->keys, p->aggs[id]->nkeys, part);
	}
	if (id >= p->nvars || !p->vars[id]->assoc || p->vars[id]->nkeys > PROG_MAX_KEYS ||
		!fits(fn, p->vars[id]))
		return -1;
	return prog_key_parts(p->vars[id]->keys, p->vars[id]->nkeys, part);
}

static int64_t ret_size(const struct ebpf_env *env, unsigned fn, uint64_t id)
{
	const struct prog *p = env->data;

	if ((fn != RT_dyn_ref && fn != RT_dyn_new) || id >= p->nvars || !p->vars[id]->assoc ||
		!fits(fn, p->vars[id]))
		return -1;
	return p->vars[id]->size;
}

void prog_env(const struct prog *p, struct ebpf_env *env)
{
	*env = (struct ebpf_env){
		.fns = fns,
		.nfns = RT_COUNT_,
		.region = {{"scratch", offsetof(struct fire_ctx, scratch), p->scratch_size, true},
			{"globals", offsetof(struct fire_ctx, globals), p->globals_size, true},
			{"rec", offsetof(struct fire_ctx, rec), p->rec_size, true}},
		.nregions = 3,
		.ctx_size = FIRE_CTX_SIZE,
		.strsize = p->strsize,
		.nstrs = p->nstrs,
		.key = key,
		.ret_size = ret_size,
		.data = (void *)(uintptr_t)p,
	};
}
