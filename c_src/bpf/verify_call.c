/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verifier on calls. The table of functions gives the kinds of arguments; the object that a
 * constant argument names determines the layout of its key and the size of its value. r1-r5 are
 * clobbered, only r6-r9 survive.
 */
#include "verify.h"

/* An argument of a call. */
struct arg {
	unsigned fn;
	const struct ebpf_fn *f;
	int i; /* from 0 */
	const struct val *val;
};

static int wrong(struct verifier *v, const struct arg *a, const char *wanted)
{
	return vf_refuse(v, "argument %d of %s must be %s, r%d is %s", a->i + 1, a->f->name, wanted,
		a->i + 1, vf_kind(a->val));
}

static int check_part(struct verifier *v, const struct arg *a, unsigned n, int64_t off,
	const struct ebpf_keypart *part)
{
	struct val slot = vf_slot(v, off);

	switch (part->kind) {
	case EBPF_SCALAR:
		if (slot.kind == EBPF_SCALAR)
			return 0;
		break;
	case EBPF_STR:
		if (vf_passes_as_str(v, &slot))
			return 0;
		break;
	case EBPF_MEM:
		if (slot.kind == EBPF_MEM)
			return vf_access(v, &slot, 0, part->size, READ);
		break;
	}
	return vf_refuse(v, "part %u of the key of %s is %s", n, a->f->name, vf_kind(&slot));
}

static int check_key(struct verifier *v, const struct arg *a)
{
	struct ebpf_keypart part[EBPF_MAX_KEYS];
	const struct val *id = a->i > 0 ? a->val - 1 : NULL;
	int n;

	if (id == NULL || a->f->arg[a->i - 1] != EBPF_CONST || !vf_is_const(id) ||
		v->env->key == NULL)
		return vf_refuse(v, "no object tells the key of %s", a->f->name);
	n = v->env->key(v->env, a->fn, id->min, part);
	if (n < 0 || n > EBPF_MAX_KEYS)
		return vf_refuse(
			v, "%s has no object %llu", a->f->name, (unsigned long long)id->min);
	if (n == 0)
		return a->val->kind != EBPF_NONE ? 0 : wrong(v, a, "initialised");
	if (a->val->kind != EBPF_MEM || a->val->in != IN_STACK || a->val->max != 0 ||
		(a->val->off & 7) != 0)
		return wrong(v, a, "a pointer to aligned slots of the stack");
	if (a->val->off < -EBPF_STACK || a->val->off + 8 * n > 0)
		return vf_refuse(v, "the key of %s is not within the stack", a->f->name);
	for (int i = 0; i < n; i++)
		if (check_part(v, a, (unsigned)i + 1, a->val->off + 8 * i, &part[i]) < 0)
			return -1;
	return 0;
}

static int check_mem(struct verifier *v, const struct arg *a, enum access how)
{
	const struct val *size = a->val + 1;

	if (a->i + 1 >= EBPF_MAX_ARGS ||
		(a->f->arg[a->i + 1] != EBPF_CONST && a->f->arg[a->i + 1] != EBPF_SCALAR))
		return vf_refuse(v, "no argument of %s tells a size", a->f->name);
	if (size->kind != EBPF_SCALAR)
		return vf_refuse(v, "the size in r%d is %s", a->i + 2, vf_kind(size));
	if (size->max == 0 && a->val->kind == EBPF_SCALAR && a->val->max == 0)
		return 0; /* empty */
	if (a->val->kind != EBPF_MEM)
		return wrong(v, a, "a pointer to memory");
	if (size->max > OFF_LIMIT)
		return vf_refuse(v, "the size in r%d has no known bound", a->i + 2);
	return vf_access(v, a->val, 0, size->max, how);
}

static int check_arg(struct verifier *v, const struct arg *a)
{
	switch (a->f->arg[a->i]) {
	case EBPF_NONE: return 0;
	case EBPF_SCALAR: return a->val->kind == EBPF_SCALAR ? 0 : wrong(v, a, "a number");
	case EBPF_CONST: return vf_is_const(a->val) ? 0 : wrong(v, a, "a known number");
	case EBPF_CTX: return a->val->kind == EBPF_CTX ? 0 : wrong(v, a, "the context");
	case EBPF_STR: return vf_passes_as_str(v, a->val) ? 0 : wrong(v, a, "a string");
	case EBPF_MEM:
		return a->val->kind == EBPF_MEM ? vf_access(v, a->val, 0, 0, 0)
						: wrong(v, a, "a pointer to memory");
	case EBPF_KEY: return check_key(v, a);
	case EBPF_MEM_RD: return check_mem(v, a, READ);
	case EBPF_MEM_WR: return check_mem(v, a, WRITE);
	default: return vf_refuse(v, "argument %d of %s has no kind", a->i + 1, a->f->name);
	}
}

static int set_result(struct verifier *v, unsigned fn, uint64_t id)
{
	const struct ebpf_fn *f = &v->env->fns[fn];
	struct val *r0 = &v->cur->reg[R0];
	int64_t size;

	switch (f->ret) {
	case EBPF_NONE: *r0 = (struct val){.kind = EBPF_NONE}; return 0;
	case EBPF_SCALAR: *r0 = vf_unknown(64); return 0;
	case EBPF_STR: *r0 = (struct val){.kind = EBPF_STR}; return 0;
	case EBPF_MEM_OR_NULL:
		size = v->env->ret_size ? v->env->ret_size(v->env, fn, id) : -1;
		if (size < 0 || size > OFF_LIMIT)
			return vf_refuse(
				v, "%s has no object %llu", f->name, (unsigned long long)id);
		*r0 = (struct val){.kind = EBPF_MEM_OR_NULL,
			.in = IN_VALUE,
			.size = (uint32_t)size,
			.id = v->at + 1};
		return 0;
	default: return vf_refuse(v, "the result of %s has no kind", f->name);
	}
}

int vf_call(struct verifier *v, unsigned fn)
{
	const struct ebpf_fn *f = &v->env->fns[fn];
	struct val *reg = v->cur->reg;
	uint64_t id = 0;
	bool named = false;

	for (int i = 0; i < EBPF_MAX_ARGS; i++) {
		struct arg a = {.fn = fn, .f = f, .i = i, .val = &reg[R1 + i]};

		if (check_arg(v, &a) < 0)
			return -1;
		if (f->arg[i] == EBPF_CONST && !named) {
			id = reg[R1 + i].min;
			named = true;
		}
	}
	for (int i = 0; i < EBPF_MAX_ARGS; i++)
		if (f->arg[i] == EBPF_MEM_WR && reg[R1 + i].kind == EBPF_MEM)
			vf_wrote(v, &reg[R1 + i], 0, reg[R2 + i].min, reg[R2 + i].max);
	for (int i = R1; i <= R5; i++)
		reg[i] = (struct val){.kind = EBPF_NONE};
	return set_result(v, fn, id);
}
