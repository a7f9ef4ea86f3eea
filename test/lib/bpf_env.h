/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A small world for the tests of c_src/bpf: a context, regions, checked values, constant strings
 * and functions with arguments of every kind. What programs do in it is observable: memory can be
 * compared, and calls leave a trace made of the contents of what they were given, never of
 * addresses. Functions check their arguments for themselves and set world_broken.
 */
#ifndef TEST_BPF_ENV_H
#define TEST_BPF_ENV_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/ebpf.h"

#define STRSIZE	  32
#define NSTRS	  4
#define VARS_SIZE 64
#define ARGS_SIZE 40
#define BUF_SIZE  256
#define NVALUES	  4

enum { CTX_NUM = 0, CTX_VARS = 8, CTX_ARGS = 16, CTX_BUF = 24, CTX_W = 32, CTX_H = 36, CTX_B = 38 };

enum { REGION_VARS, REGION_ARGS, REGION_BUF, NREGIONS };

struct ctx {
	uint64_t num;
	void *vars, *args, *buf;
	uint32_t w;
	uint16_t h;
	uint8_t b[2];
};

/* Memory with gaps that nobody may touch. */
struct world {
	struct ctx ctx;
	uint64_t gap0[2];
	uint8_t vars[VARS_SIZE];
	uint64_t gap1[2];
	uint8_t args[ARGS_SIZE];
	uint64_t gap2[2];
	uint8_t buf[BUF_SIZE];
	uint64_t gap3[2];
	uint8_t value[NVALUES][STRSIZE + 32];
};

static struct world world;
static uint64_t world_trace;
static unsigned world_calls;
static const char *world_broken;

/* Objects 0-3 have values of these sizes. */
static const uint32_t value_size[NVALUES] = {8, 16, STRSIZE, STRSIZE + 8};

static uint64_t mix(uint64_t a, uint64_t b)
{
	a = (a ^ b) * 0x9e3779b97f4a7c15ull;
	return a ^ a >> 29;
}

static void traced(uint64_t v)
{
	world_trace = mix(world_trace, v);
}

static uint64_t hash(const void *p, size_t n)
{
	const uint8_t *b = p;
	uint64_t h = n;

	for (size_t i = 0; i < n; i++)
		h = mix(h, b[i]);
	return h;
}

/* ---- strings: 0, a reference, or memory */

#define STR_TAG 0x5700000000000000ull

static uint64_t hash_str(uint64_t s)
{
	const uint8_t *p = (const uint8_t *)(uintptr_t)s;
	const uint8_t *lo = (const uint8_t *)&world, *hi = lo + sizeof(world);

	if (s == 0 || (s & 0xff00000000000000ull) == STR_TAG)
		return s;
	if (p >= lo && p + STRSIZE <= hi)
		return hash(p, STRSIZE);
	world_broken = "not a string";
	return 0;
}

/* ---- keys */

#define NKEYS 6

static int world_key(const struct ebpf_env *env, unsigned fn, uint64_t id,
	struct ebpf_keypart part[EBPF_MAX_KEYS])
{
	static const struct {
		int n;
		struct ebpf_keypart part[3];
	} keys[NKEYS] = {
		{0, {{0, 0}}},
		{1, {{EBPF_SCALAR, 0}}},
		{1, {{EBPF_STR, 0}}},
		{2, {{EBPF_SCALAR, 0}, {EBPF_STR, 0}}},
		{1, {{EBPF_MEM, 16}}},
		{3, {{EBPF_SCALAR, 0}, {EBPF_MEM, 8}, {EBPF_STR, 0}}},
	};

	(void)env, (void)fn;
	if (id >= NKEYS)
		return -1;
	for (int i = 0; i < keys[id].n; i++)
		part[i] = keys[id].part[i];
	return keys[id].n;
}

static uint64_t hash_key(uint64_t id, uint64_t key)
{
	const uint64_t *slot = (const uint64_t *)(uintptr_t)key;
	struct ebpf_keypart part[EBPF_MAX_KEYS];
	int n = world_key(NULL, 0, id, part);
	uint64_t h = id;

	if (n < 0)
		world_broken = "no such key";
	for (int i = 0; i < n; i++)
		switch (part[i].kind) {
		case EBPF_SCALAR: h = mix(h, slot[i]); break;
		case EBPF_STR: h = mix(h, hash_str(slot[i])); break;
		case EBPF_MEM:
			h = mix(h, hash((const void *)(uintptr_t)slot[i], part[i].size));
			break;
		}
	return h;
}

static int64_t world_ret_size(const struct ebpf_env *env, unsigned fn, uint64_t id)
{
	(void)env, (void)fn;
	return id < NVALUES ? (int64_t)value_size[id] : -1;
}

/* ---- functions */

#define FN(name) static uint64_t name(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e)
#define UNUSED	 (void)a, (void)b, (void)c, (void)d, (void)e

/*
 * Calls spoil what C lets them spoil, so that nobody counts on it, and look at the alignment that
 * they were called with (inlined: it is that of their own frame).
 */
static inline __attribute__((always_inline)) void spoil(int fn)
{
	world_calls++;
	traced((uint64_t)fn);
#ifdef __x86_64__
	__asm__ volatile("mov $0x11, %%edi; mov $0x22, %%esi; mov $0x33, %%edx; mov $0x44, %%ecx;"
			 "mov $0x55, %%r8d; mov $0x66, %%r9d; mov $0x77, %%r10d; mov $0x88, %%r11d;"
			 "mov $0x99, %%eax"
			 :
			 :
			 : "rdi", "rsi", "rdx", "rcx", "r8", "r9", "r10", "r11", "rax", "cc");
	if ((uintptr_t)__builtin_frame_address(0) % 16 != 0)
		world_broken = "the stack is not aligned";
#endif
}

enum fns {
	F_MIX,
	F_CONST,
	F_CTX,
	F_STR,
	F_MKSTR,
	F_LOOKUP,
	F_KEY,
	F_READ,
	F_WRITE,
	F_WRITEV,
	F_MEM,
	F_NONE,
	F_ALLOC,
	F_READK,
	NFNS
};

FN(f_mix)
{
	spoil(F_MIX);
	traced(mix(mix(mix(mix(a, b), c), d), e));
	return world_trace;
}

FN(f_const)
{
	UNUSED;
	spoil(F_CONST);
	traced(mix(a, b));
	return a + b;
}

FN(f_ctx)
{
	UNUSED;
	spoil(F_CTX);
	if (a != (uintptr_t)&world.ctx)
		world_broken = "not the context";
	return world.ctx.num + b;
}

FN(f_str)
{
	UNUSED;
	spoil(F_STR);
	traced(hash_str(a));
	return hash_str(a);
}

FN(f_mkstr)
{
	UNUSED;
	spoil(F_MKSTR);
	traced(a);
	return a & 1 ? 0 : STR_TAG | (a & 0xff);
}

FN(f_lookup)
{
	UNUSED;
	uint64_t h = hash_key(a, b);

	spoil(F_LOOKUP);
	traced(h);
	if (a >= NVALUES)
		world_broken = "no such object";
	return h & 1 ? (uintptr_t)world.value[a & 3] : 0;
}

FN(f_key)
{
	UNUSED;
	uint64_t h = hash_key(a, b);

	spoil(F_KEY);
	traced(mix(h, c));
	return 0x5ca1ab1e;
}

FN(f_read)
{
	UNUSED;
	uint64_t h = hash((const void *)(uintptr_t)a, b);

	spoil(F_READ);
	traced(h);
	return h;
}

static void write_bytes(uint64_t to, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		((uint8_t *)(uintptr_t)to)[i] = (uint8_t)(world_trace >> (i & 7)) ^ (uint8_t)i;
	traced(n);
}

FN(f_write)
{
	UNUSED;
	spoil(F_WRITE);
	write_bytes(a, b);
	return 0xbad;
}

FN(f_writev)
{
	UNUSED;
	spoil(F_WRITEV);
	traced(a);
	write_bytes(b, c);
	return c;
}

FN(f_mem)
{
	UNUSED;
	spoil(F_MEM);
	return 1;
}

FN(f_none)
{
	UNUSED;
	spoil(F_NONE);
	return 0xdead;
}

FN(f_alloc)
{
	UNUSED;
	spoil(F_ALLOC);
	if (a >= NVALUES)
		world_broken = "no such object";
	return mix(world_trace, a) & 3 ? (uintptr_t)world.value[a & 3] : 0;
}

FN(f_readk)
{
	UNUSED;
	uint64_t h = hash((const void *)(uintptr_t)a, b);

	spoil(F_READK);
	traced(h);
	return h;
}

static const struct ebpf_fn world_fns[NFNS] = {
	[F_MIX] = {"mix", f_mix, {EBPF_SCALAR, EBPF_SCALAR, EBPF_SCALAR, EBPF_SCALAR, EBPF_SCALAR},
		EBPF_SCALAR},
	[F_CONST] = {"const", f_const, {EBPF_CONST, EBPF_SCALAR}, EBPF_SCALAR},
	[F_CTX] = {"ctx", f_ctx, {EBPF_CTX, EBPF_SCALAR}, EBPF_SCALAR},
	[F_STR] = {"str", f_str, {EBPF_STR}, EBPF_SCALAR},
	[F_MKSTR] = {"mkstr", f_mkstr, {EBPF_SCALAR}, EBPF_STR},
	[F_LOOKUP] = {"lookup", f_lookup, {EBPF_CONST, EBPF_KEY}, EBPF_MEM_OR_NULL},
	[F_KEY] = {"key", f_key, {EBPF_CONST, EBPF_KEY, EBPF_SCALAR}, EBPF_NONE},
	[F_READ] = {"read", f_read, {EBPF_MEM_RD, EBPF_SCALAR}, EBPF_SCALAR},
	[F_WRITE] = {"write", f_write, {EBPF_MEM_WR, EBPF_CONST}, EBPF_NONE},
	[F_WRITEV] = {"writev", f_writev, {EBPF_SCALAR, EBPF_MEM_WR, EBPF_SCALAR}, EBPF_SCALAR},
	[F_MEM] = {"mem", f_mem, {EBPF_MEM}, EBPF_SCALAR},
	[F_NONE] = {"none", f_none, {EBPF_NONE}, EBPF_NONE},
	[F_ALLOC] = {"alloc", f_alloc, {EBPF_CONST}, EBPF_MEM_OR_NULL},
	[F_READK] = {"readk", f_readk, {EBPF_MEM_RD, EBPF_CONST}, EBPF_SCALAR},
};

static const uint64_t world_strs[NSTRS] = {STR_TAG | 1, STR_TAG | 2, 0, STR_TAG | 0x123456};

static const struct ebpf_env world_env = {
	.fns = world_fns,
	.nfns = NFNS,
	.region = {{"vars", CTX_VARS, VARS_SIZE, true}, {"args", CTX_ARGS, ARGS_SIZE, false},
		{"buf", CTX_BUF, BUF_SIZE, true}},
	.nregions = NREGIONS,
	.ctx_size = sizeof(struct ctx),
	.strsize = STRSIZE,
	.nstrs = NSTRS,
	.key = world_key,
	.ret_size = world_ret_size,
};

static uint64_t rng_state = 1;

static inline uint64_t rng(void)
{
	rng_state ^= rng_state << 13;
	rng_state ^= rng_state >> 7;
	rng_state ^= rng_state << 17;
	return rng_state * 0x2545f4914f6cdd1dull >> 11 | rng_state << 53;
}

/* Memory as the number says. */
static inline void world_fill(uint64_t seed)
{
	uint64_t *p = (uint64_t *)&world;

	for (size_t i = 0; i < sizeof(world) / 8; i++)
		p[i] = seed = mix(seed, i + 1);
	world.ctx.vars = world.vars;
	world.ctx.args = world.args;
	world.ctx.buf = world.buf;
}

/* A run: what it gave, and the world after it. */
struct outcome {
	uint64_t r0, trace;
	unsigned calls;
	struct world world;
};

/* Runs from the same start by interpretation (entry NULL) or as code. */
static inline void world_run(const struct ebpf_insn *insns, unsigned n, ebpf_entry entry,
	const struct world *start, struct outcome *o, bool *bad)
{
	memcpy(&world, start, sizeof(world));
	world_trace = 0;
	world_calls = 0;
	if (entry != NULL)
		o->r0 = entry(&world.ctx);
	else
		o->r0 = ebpf_run(insns, n, &world_env, world_strs, &world.ctx, bad);
	o->trace = world_trace;
	o->calls = world_calls;
	memcpy(&o->world, &world, sizeof(world));
}

/* NULL if the same, else what differs. */
static inline const char *world_differs(const struct outcome *a, const struct outcome *b)
{
	if (a->r0 != b->r0)
		return "r0";
	if (a->trace != b->trace || a->calls != b->calls)
		return "the calls";
	return memcmp(&a->world, &b->world, sizeof(a->world)) ? "memory" : NULL;
}

static inline void world_dump(const struct ebpf_insn *insns, unsigned n)
{
	char text[128];

	for (unsigned i = 0; i < n;) {
		const struct ebpf_insn pair[2] = {
			insns[i], i + 1 < n ? insns[i + 1] : (struct ebpf_insn){.code = 0}};
		int slots = ebpf_disasm(pair, &world_env, text, sizeof(text));

		fprintf(stderr, "%5u: %02x %x%x %04hx %08x  %s\n", i, insns[i].code, insns[i].dst,
			insns[i].src, (unsigned short)insns[i].off, (unsigned)insns[i].imm, text);
		i += (unsigned)slots;
	}
}

#endif
