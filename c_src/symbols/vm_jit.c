/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code that the JIT shares between functions, a few thousand bytes before the first module's.
 * It has constants that no symbol is needed for: the address of the code index in use, offsets in a
 * process, and where calls of NIFs and BIFs return. Each is taken from a sequence of instructions
 * that occurs only once, or has the same constant wherever it occurs; else it is not known.
 */
#include <string.h>

#include "vm_tables.h"

#define ANY -1
enum { NEXT = 24, CALL = 96, YIELD = 512 }; /* bytes within which the rest of a sequence is */

struct pattern {
	unsigned n;
	int16_t byte[16];
};

static const struct pattern load_index = /* movabs $index, %rdi; mov (%rdi), %edi; cmp $3, %r12 */
	{16, {0x48, 0xbf, ANY, ANY, ANY, ANY, ANY, ANY, ANY, ANY, 0x8b, 0x3f, 0x49, 0x83, 0xfc, 3}},
	nif_args = /* mov D(%rsi), %rcx; the next two words to %r8 and %r9; call */
	{14, {0x48, 0x8b, 0x4e, ANY, 0x4c, 0x8b, 0x46, ANY, 0x4c, 0x8b, 0x4e, ANY, 0xff, 0x15}},
	set_current = {7, {0x49, 0x89, 0xb5, ANY, ANY, 0, 0}}, /* mov %rsi, current(%r13) */
	set_i = {7, {0x49, 0x89, 0x95, ANY, ANY, 0, 0}},       /* mov %rdx, i(%r13) */
	call_c = {5, {0x48, 0x89, 0xde, 0xff, 0x15}}, /* mov %rbx, %rsi; call *function(%rip) */
	set_export = {4, {0x48, 0x89, 0x4b, ANY}},    /* mov %rcx, export(%rbx) */
	leave = {4, {0x48, 0x8d, 0x63, ANY}},	      /* lea registers(%rbx), %rsp */
	call_rax = {5, {0x48, 0x89, 0xde, 0xff, 0xd0}}, /* mov %rbx, %rsi; call *%rax */
	take_mfa = {4, {0x48, 0x8d, 0x49, ANY}}, /* lea mfa(%rcx), %rcx */
	set_mfa = {7, {0x49, 0x89, 0x8d, ANY, ANY, 0, 0}}, /* mov %rcx, current(%r13) */
	call_rcx = {8, {0x48, 0x89, 0xde, 0x48, 0x89, 0xc1, 0xff, 0xd1}};

struct code {
	const uint8_t *p;
	size_t n;
};

/* Where the pattern is next, from `from' on and before `to'; c->n: nowhere. */
static size_t find(const struct code *c, const struct pattern *p, size_t from, size_t to)
{
	for (size_t i = from; i < to && i + p->n + 4 <= c->n; i++) {
		unsigned k = 0;

		while (k < p->n && (p->byte[k] == ANY || p->byte[k] == c->p[i + k]))
			k++;
		if (k == p->n)
			return i;
	}
	return c->n;
}

static bool find_active(const struct code *c, struct vm_jit *j)
{
	uint64_t v;

	for (size_t i = 0; (i = find(c, &load_index, i, c->n)) < c->n; i++) {
		memcpy(&v, c->p + i + 2, sizeof(v));
		if (j->active != 0 && j->active != v)
			return false;
		j->active = v;
	}
	return j->active != 0;
}

static uint32_t displacement(const struct code *c, size_t i)
{
	uint32_t v;

	memcpy(&v, c->p + i + 3, sizeof(v));
	return v;
}

/* The caller's function is in rsi, with the NIF and what else it is called with after it. */
static size_t find_nif(const struct code *c, size_t from)
{
	for (size_t i = from; (i = find(c, &nif_args, i, c->n)) < c->n; i++)
		if (c->p[i + 7] == c->p[i + 3] + 8 && c->p[i + 11] == c->p[i + 3] + 16)
			return i;
	return c->n;
}

/* The MFA is in rsi, and goes to the process, as does where it is called from. */
static size_t find_bif(const struct code *c, size_t from, struct vm_jit *j, size_t *returns)
{
	for (size_t i = from; (i = find(c, &set_current, i, c->n)) < c->n; i++) {
		size_t second = find(c, &set_i, i + set_current.n, i + set_current.n + NEXT);
		size_t call = find(c, &call_c, second, second + CALL);

		if (second == c->n || call == c->n)
			continue;
		j->current = displacement(c, i);
		j->i = displacement(c, second);
		*returns = call + call_c.n + 4;
		return i;
	}
	return c->n;
}

/* The Export is in rcx, and goes to the scheduler's registers, where the thread's stack begins. */
static size_t find_light(const struct code *c, size_t from, struct vm_jit *j, size_t *returns)
{
	for (size_t i = from; (i = find(c, &set_export, i, c->n)) < c->n; i++) {
		size_t sp = find(c, &leave, i + 4, i + CALL), end = sp + NEXT;
		size_t rax = find(c, &call_rax, sp, end), rcx = find(c, &call_rcx, sp, end);

		if (sp == c->n || (rax == c->n) == (rcx == c->n))
			continue;
		j->export = (uint32_t)((int8_t)c->p[i + 3] - (int8_t)c->p[sp + 3]);
		*returns = rax < c->n ? rax + call_rax.n : rcx + call_rcx.n;
		return i;
	}
	return c->n;
}

/* Where the process yields instead of calling it, its MFA goes to the process. */
static uint32_t find_export_mfa(const struct code *c, size_t from, const struct vm_jit *j)
{
	for (size_t i = from; (i = find(c, &take_mfa, i, from + YIELD)) < c->n; i++) {
		size_t set = find(c, &set_mfa, i + take_mfa.n, i + take_mfa.n + NEXT);

		if (set < c->n && displacement(c, set) == j->current)
			return c->p[i + 3];
	}
	return 0;
}

bool vm_jit_find(const uint8_t *code, size_t n, uint64_t at, struct vm_jit *j)
{
	struct code c = {code, n};
	struct vm_jit other = {0};
	size_t i, again, returns = 0, unused;

	*j = (struct vm_jit){.code = {at, at + n}};
	if (!find_active(&c, j))
		return false;
	i = find_nif(&c, 0);
	if (i < n && find_nif(&c, i + 1) == n)
		j->nif = at + i + nif_args.n + 4;
	i = find_bif(&c, 0, j, &returns);
	again = i < n ? find_bif(&c, i + 1, &other, &unused) : n;
	if (i < n && again == n)
		j->bif = at + returns;
	else
		j->nif = j->current = j->i = 0; /* a NIF is told where a BIF is */
	i = find_light(&c, 0, j, &returns);
	again = i < n ? find_light(&c, i + 1, &other, &unused) : n;
	if (i < n && again == n && j->export < 256 && j->current != 0)
		j->export_mfa = find_export_mfa(&c, returns, j);
	if (j->export_mfa != 0)
		j->light = at + returns;
	return true;
}
