/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The linker by itself, on a few functions that are written here: which instructions it makes of
 * loads and stores, loops, symbols, and calls of programs. That the kernel accepts them is shown by
 * every test of probes there.
 */
#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/link/link.h"
#include "checks.h"

#define COUNT(a)		       (sizeof(a) / sizeof(*(a)))
#define INSN(code, dst, src, off, imm) ((struct ebpf_insn){EBPF_##code, dst, src, off, imm})
#define RETURN(v)		       INSN(MOV64_IMM, R0, 0, 0, v), INSN(EXIT, 0, 0, 0, 0)

/* Of BPF in the kernel, which insns.def does not have. */
enum { CALL_FUNC = 1, MAP_FD = 1, MAP_VALUE = 2, COPY_FROM_USER = 148 };
#define CAST(dst, src)	  ((struct ebpf_insn){EBPF_MOV64_REG, dst, src, 1, 1})
#define MAY_GOTO(off)	  ((struct ebpf_insn){0xe5, 0, 0, off, 0})
#define LDDW(dst, src, v) ((struct ebpf_insn){EBPF_LDDW, dst, src, 0, v})
#define REST		  ((struct ebpf_insn){0})

/* ---- an object: its functions in the order of their names ------------------------------- */

/* clang-format off */
static const struct ebpf_insn main_insns[] = {
	LDDW(R2, 0, 8), REST,	     /* base + 8 */
	INSN(LDXDW, R6, R1, 16, 0),  /* of the context */
	INSN(STXDW, R10, R6, -8, 0), /* to the stack */
	INSN(LDXDW, R3, R2, 0, 0),   /* of the arena */
	INSN(STXDW, R2, R6, 24, 0),
	LDDW(R4, 0, 4), REST,	     /* memory of a map + 4 */
	INSN(LDXW, R4, R4, 0, 0),
	INSN(MOV64_REG, R1, R3, 0, 0),
	INSN(MOV64_REG, R2, R4, 0, 0),
	INSN(CALL, 0, CALL_FUNC, 0, -1), /* run */
	INSN(CALL, 0, CALL_FUNC, 0, -1), /* other */
	INSN(EXIT, 0, 0, 0, 0),
};
/* clang-format on */
static struct ebpf_reloc main_relocs[] = {
	{.at = 0, .index = -1, .name = "base"},
	{.at = 6, .index = -1, .name = "map"},
	{.at = 11, .index = -1, .name = "run"},
	{.at = 12, .kind = EBPF_REL_FUNC, .index = 1, .name = "other"},
};
/* A loop; and a function of the kernel that may wait. */
static struct ebpf_insn other_insns[] = {
	INSN(MOV64_IMM, R1, 0, 0, 8),
	INSN(SUB64_IMM, R1, 0, 0, 1),
	INSN(JNE_IMM, R1, 0, -2, 0),
	INSN(CALL, 0, 0, 0, COPY_FROM_USER),
	INSN(EXIT, 0, 0, 0, 0),
};
static const struct ebpf_insn rt_insns[] = {INSN(MOV64_REG, R0, R3, 0, 0), INSN(EXIT, 0, 0, 0, 0)};

static struct ebpf_func funcs[] = {
	{"main", main_insns, COUNT(main_insns), true, main_relocs, COUNT(main_relocs)},
	{"other", other_insns, COUNT(other_insns), true, NULL, 0},
	{"rt_store", rt_insns, COUNT(rt_insns), true, NULL, 0},
};
static const struct ebpf_func *by_name[] = {&funcs[0], &funcs[1], &funcs[2]};
static const struct ebpf_object object = {
	.funcs = funcs, .n = COUNT(funcs), .by_name = by_name, .nglobals = COUNT(by_name)};

/* ---- programs, and what they call ------------------------------------------------------- */

enum { FN_VAR, FN_STORE, FN_MISSING };
static const struct ebpf_fn fns[] = {
	{"var", NULL, {EBPF_CTX, EBPF_CONST}, EBPF_SCALAR},
	{"store", NULL, {EBPF_CTX, EBPF_CONST, EBPF_KEY}, EBPF_NONE},
	{"missing", NULL, {EBPF_CTX}, EBPF_NONE},
};
static const char *const fn_names[] = {"rt_var", "rt_store", "rt_missing"};
static const struct ebpf_direct direct[] = {
	{FN_VAR, 7, 40, 12, 4, 0}, {FN_VAR, 8, 48, 16, 8, 1ULL << 63}};

static int two_words(
	const struct ebpf_env *env, unsigned fn, uint64_t id, struct ebpf_keypart *part)
{
	(void)env, (void)fn, (void)id;
	part[0] = part[1] = (struct ebpf_keypart){.kind = EBPF_SCALAR};
	return 2;
}

static const struct ebpf_env env = {.fns = fns, .nfns = COUNT(fns), .key = two_words};

static struct ebpf_link_input input(const struct ebpf_program *programs, unsigned n)
{
	return (struct ebpf_link_input){.object = &object,
		.symbol = {{"base", EBPF_SYM_NUMBER, 0x7000}, {"map", EBPF_SYM_MAP, 6},
			{"run", EBPF_SYM_RUN, 0}},
		.nsymbols = 3,
		.entry = "main",
		.memory_fd = 5,
		.zero = 0x7100,
		.programs = programs,
		.nprograms = n,
		.env = &env,
		.fns = fn_names,
		.direct = direct,
		.ndirect = COUNT(direct),
		.key = 0x200};
}

/* ---- checks ----------------------------------------------------------------------------- */

/* Does the image have these instructions side by side? */
static bool has(const struct ebpf_image *im, const struct ebpf_insn *insns, unsigned n)
{
	for (unsigned i = 0; i + n <= im->ninsns; i++)
		if (memcmp(im->insns + i, insns, n * sizeof(*insns)) == 0)
			return true;
	return false;
}
#define HAS(im, ...)                                                                               \
	has(&(im), (const struct ebpf_insn[]){__VA_ARGS__},                                        \
		COUNT(((const struct ebpf_insn[]){__VA_ARGS__})))

static struct ebpf_image linked(const struct ebpf_link_input *in)
{
	struct et_error e = {.tag = ""};
	struct ebpf_image im;

	CHECK(ebpf_link(in, &im, &e) == 0, "%s", e.text);
	et_err_clear(&e);
	return im;
}

static void refused(const struct ebpf_link_input *in, const char *why)
{
	struct et_error e = {.tag = ""};
	struct ebpf_image im;

	ok(ebpf_link(in, &im, &e) < 0 && strcmp(e.text, why) == 0, why, e.text);
	et_err_clear(&e);
	ebpf_image_free(&im);
}

static void functions(void)
{
	struct ebpf_link_input in = input(NULL, 0);
	struct ebpf_image im = linked(&in);

	CHECK(im.nparts == 2 && strcmp(im.parts[0].name, "main") == 0 && im.parts[0].at == 0);
	CHECK(strcmp(im.parts[1].name, "other") == 0);
	/* the arena is known from the first instruction on; what the context holds gets no cast */
	CHECK(HAS(im, LDDW(R0, MAP_FD, 5), REST, LDDW(R2, 0, 0x7008), REST,
		INSN(LDXDW, R6, R1, 16, 0), INSN(STXDW, R10, R6, -8, 0)));
	/* one cast for both accesses, into a register that is free */
	CHECK(HAS(im, CAST(R0, R2), INSN(LDXDW, R3, R0, 0, 0), INSN(STXDW, R0, R6, 24, 0)));
	CHECK(HAS(im, LDDW(R4, MAP_VALUE, 6), ((struct ebpf_insn){.imm = 4}),
		INSN(LDXW, R4, R4, 0, 0)));
	/* the loop: its counter is hidden from the verifier, its budget leads to an end */
	CHECK(HAS(im, LDDW(R1, 0, 0x7100), REST, CAST(R1, R1), INSN(LDXDW, R1, R1, 0, 0),
		INSN(ADD64_IMM, R1, 0, 0, 8), INSN(SUB64_IMM, R1, 0, 0, 1), MAY_GOTO(3),
		INSN(JNE_IMM, R1, 0, -3, 0), RETURN(-1), RETURN(0)));
	ebpf_image_free(&im);

	in.sleeps = true;
	im = linked(&in);
	CHECK(HAS(im, INSN(CALL, 0, 0, 0, COPY_FROM_USER)));
	ebpf_image_free(&im);

	other_insns[3].imm = 9999;
	refused(&in, "other calls the kernel's helper 9999, which is not in helpers.def");
	other_insns[3].imm = COPY_FROM_USER;

	in.left_out[0] = "other";
	im = linked(&in);
	CHECK(im.nparts == 1 && HAS(im, RETURN(0)));
	ebpf_image_free(&im);

	in.nsymbols = 2;
	refused(&in, "the kernel's half has no function run, which main calls");
	in.nsymbols = 1;
	refused(&in, "the kernel's half has no map");
	in.entry = "nobody";
	refused(&in, "no nobody for the kernel");
}

/* Without an arena: a window of 64 KB, in the map with the same fd. */
static void window(void)
{
	const struct ebpf_insn mask = INSN(AND64_IMM, R0, 0, 0, 0xffff);
	struct ebpf_link_input in = input(NULL, 0);
	struct ebpf_image im;

	in.window = 0x10000;
	in.cut = 0x7200;
	in.budget = 1000;
	im = linked(&in);
	/* the window's address has a register, and is behind what an offset can reach */
	CHECK(HAS(im, LDDW(R9, MAP_VALUE, 5), ((struct ebpf_insn){.imm = EBPF_GUARD}),
		LDDW(R2, 0, 0x7008), REST));
	CHECK(HAS(im, INSN(MOV64_REG, R0, R2, 0, 0), mask, INSN(ADD64_REG, R0, R9, 0, 0),
		INSN(LDXDW, R3, R0, 0, 0), INSN(STXDW, R0, R6, 24, 0)));
	/* the loop: its counter is hidden, its turns are counted on the stack */
	CHECK(HAS(im, LDDW(R0, MAP_VALUE, 5), ((struct ebpf_insn){.imm = EBPF_GUARD + 0x7100}),
		INSN(LDXDW, R0, R0, 0, 0), INSN(ADD64_REG, R1, R0, 0, 0),
		INSN(LDXDW, R0, R10, -8, 0), INSN(SUB64_IMM, R0, 0, 0, 1),
		INSN(STXDW, R10, R0, -8, 0)));
	/* and where there are none left the function ends, which is counted */
	CHECK(HAS(im, LDDW(R1, MAP_VALUE, 5), ((struct ebpf_insn){.imm = EBPF_GUARD + 0x7200}),
		INSN(ADD64_REG, R1, R0, 0, 0), INSN(MOV64_IMM, R0, 0, 0, 1),
		INSN(ATOMIC64, R1, R0, 0, EBPF_ATOMIC_ADD), RETURN(0)));
	CHECK(im.follows > 0);
	ebpf_image_free(&im);
}

/*
 * Where the kernel has bpf_loop(): the loop is a function of its own; that which has it calls that
 * with its frame, where the counter is kept, and goes on where the state says.
 */
static void loop(void)
{
	enum { HEAD = 1, BEHIND = 3, COUNTER = -8, STATE = -32, BPF_LOOP = 181 };
	struct ebpf_link_input in = input(NULL, 0);
	struct et_error e = {.tag = ""};
	struct ebpf_image im;
	size_t size;

	in.window = 0x10000;
	in.loops = true;
	im = linked(&in);
	CHECK(im.nparts == 3 && im.parts[2].callback && !im.parts[1].callback);
	CHECK(strcmp(im.parts[2].name, "other") == 0 && im.parts[2].nargs == 2);
	/* the counter, which is hidden from the verifier, and where the loop goes on */
	CHECK(HAS(im, INSN(LDXDW, R0, R0, 0, 0), INSN(ADD64_REG, R1, R0, 0, 0),
		INSN(STXDW, R10, R1, COUNTER, 0)));
	CHECK(HAS(im, INSN(MOV64_IMM, R0, 0, 0, HEAD), INSN(STXDW, R10, R0, STATE, 0)));
	/* to behind the loop; or it has turned too often */
	CHECK(HAS(im, INSN(MOV64_REG, R3, R10, 0, 0), INSN(MOV64_IMM, R4, 0, 0, 0),
		INSN(CALL, 0, 0, 0, BPF_LOOP), INSN(LDXDW, R0, R10, STATE, 0),
		INSN(JNE_IMM, R0, 0, 4, BEHIND), INSN(LDXDW, R1, R10, COUNTER, 0)));
	/* in the callback, by the frame that it is given */
	CHECK(HAS(im, INSN(MOV64_REG, R9, R2, 0, 0), INSN(LDXDW, R0, R2, STATE, 0),
		INSN(JNE_IMM, R0, 0, 12, HEAD), INSN(LDXDW, R1, R2, COUNTER, 0)));
	CHECK(HAS(im, INSN(STXDW, R9, R1, COUNTER, 0), INSN(MOV64_IMM, R0, 0, 0, HEAD),
		INSN(STXDW, R9, R0, STATE, 0), RETURN(0)));
	/* a turn, or the last one */
	CHECK(HAS(im, INSN(SUB64_IMM, R1, 0, 0, 1)) && HAS(im, RETURN(0)) && HAS(im, RETURN(1)));
	/* no jump back is left */
	for (unsigned i = 0; i < im.ninsns; i++)
		CHECK(im.insns[i].code != EBPF_JNE_IMM || im.insns[i].off >= 0);
	free(ebpf_image_types(&im, "program", &size, &e));
	CHECK(im.parts[2].type == 7);
	ebpf_image_free(&im);
}

/* What older kernels do not have is made of what they have. */
static void older(void)
{
	const struct ebpf_insn insns[] = {INSN(MOV64_IMM, R2, 0, 0, -7),
		INSN(MOV64_REG, R3, R2, 32, 0), INSN(DIV64_IMM, R3, 0, 1, 2),
		INSN(MOV64_REG, R0, R3, 0, 0), INSN(EXIT, 0, 0, 0, 0)};
	struct ebpf_program p = {insns, COUNT(insns), 3};
	struct ebpf_link_input in = input(&p, 1);
	struct ebpf_image im;

	in.window = 0x10000;
	im = linked(&in);
	CHECK(HAS(im, INSN(MOV64_REG, R3, R2, 0, 0), INSN(LSH64_IMM, R3, 0, 0, 32),
		INSN(ARSH64_IMM, R3, 0, 0, 32)));
	CHECK(!HAS(im, insns[2]) && HAS(im, INSN(JSGE_IMM, R3, 0, 1, 0)));
	ebpf_image_free(&im);
	in.window = 0;
	im = linked(&in);
	CHECK(HAS(im, insns[1], insns[2]));
	ebpf_image_free(&im);
}

static void calls(void)
{
	/* clang-format off */
	const struct ebpf_insn insns[] = {
		INSN(MOV64_REG, R6, R1, 0, 0),
		INSN(MOV64_IMM, R2, 0, 0, 7), INSN(CALL, 0, 0, 0, FN_VAR),
		INSN(STXDW, R10, R0, -16, 0), INSN(STXDW, R10, R0, -8, 0),
		INSN(MOV64_REG, R1, R6, 0, 0),
		INSN(MOV64_IMM, R2, 0, 0, 8), INSN(CALL, 0, 0, 0, FN_VAR),
		INSN(MOV64_IMM, R2, 0, 0, 1), INSN(MOV64_REG, R3, R10, 0, 0),
		INSN(ADD64_IMM, R3, 0, 0, -16), INSN(MOV64_REG, R1, R6, 0, 0),
		INSN(CALL, 0, 0, 0, FN_STORE), RETURN(0)};
	/* clang-format on */
	const struct ebpf_insn bad[] = {INSN(CALL, 0, 0, 0, FN_MISSING), INSN(EXIT, 0, 0, 0, 0)};
	struct ebpf_program p = {insns, COUNT(insns), 3};
	struct ebpf_link_input in = input(&p, 1);
	struct ebpf_image im = linked(&in);

	CHECK(im.nparts == 4 && im.parts[1].name == NULL && im.parts[1].nargs == 1);
	CHECK(HAS(im, INSN(JNE_IMM, R2, 0, 1, 3))); /* only by its index */
	/* loads instead of calls */
	CHECK(HAS(im, CAST(R0, R1), INSN(LDXDW, R0, R0, 40, 0), CAST(R0, R0),
		INSN(LDXW, R0, R0, 12, 0), INSN(STXDW, R10, R0, -16, 0)));
	CHECK(HAS(im, CAST(R0, R1), INSN(LDXDW, R0, R0, 48, 0), CAST(R0, R0),
		INSN(LDXDW, R0, R0, 16, 0), LDDW(R1, 0, 0), ((struct ebpf_insn){.imm = INT32_MIN}),
		INSN(OR64_REG, R0, R1, 0, 0)));
	/* the key is copied into the context */
	CHECK(HAS(im, CAST(R1, R1), INSN(LDXDW, R0, R3, 0, 0), INSN(STXDW, R1, R0, 0x200, 0),
		INSN(LDXDW, R0, R3, 8, 0), INSN(STXDW, R1, R0, 0x208, 0),
		INSN(MOV64_REG, R1, R6, 0, 0), INSN(MOV64_REG, R3, R1, 0, 0),
		INSN(ADD64_IMM, R3, 0, 0, 0x200)));
	CHECK(strcmp(im.parts[3].name, "rt_store") == 0 && im.parts[3].nargs == 3);
	ebpf_image_free(&im);
	p = (struct ebpf_program){bad, COUNT(bad), 0};
	refused(&in, "missing() does not work in the kernel");
}

/* More programs than the kernel takes functions share some. */
static void many(void)
{
	const struct ebpf_insn insns[] = {RETURN(0)};
	struct ebpf_program p[1000];
	struct ebpf_link_input in = input(p, COUNT(p));
	struct ebpf_image im;
	unsigned found = 0;

	for (unsigned i = 0; i < COUNT(p); i++)
		p[i] = (struct ebpf_program){insns, COUNT(insns), 2 * i};
	im = linked(&in);
	CHECK(im.nparts > 2 && im.nparts <= 2 + 96, "%u", im.nparts);
	for (unsigned i = 0; i < COUNT(p); i++)
		found += HAS(im, INSN(JEQ_IMM, R2, 0, 1, (int32_t)(2 * i)));
	CHECK(found == COUNT(p), "%u", found);
	CHECK(im.parts[1].nargs == 2);
	ebpf_image_free(&im);
}

/* A jump that 16 bits are enough for until the program has been linked. */
static void far(void)
{
	enum { TIMES = 9000 };
	const struct ebpf_insn each[] = {INSN(MOV64_REG, R1, R6, 0, 0),
		INSN(MOV64_IMM, R2, 0, 0, 7), INSN(CALL, 0, 0, 0, FN_VAR)};
	struct ebpf_insn *insns = calloc(TIMES * COUNT(each) + 4, sizeof(*insns)), *at = insns;
	struct ebpf_program p = {.insns = insns, .index = 3};
	struct ebpf_link_input in = input(&p, 1);
	struct ebpf_image im;

	*at++ = INSN(MOV64_REG, R6, R1, 0, 0);
	*at++ = INSN(JSET_IMM, R6, 0, TIMES * COUNT(each), 1);
	for (unsigned i = 0; i < TIMES; i++)
		at = mempcpy(at, each, sizeof(each));
	at = mempcpy(at, (struct ebpf_insn[]){RETURN(5)}, 2 * sizeof(*at));
	p.n = (unsigned)(at - insns);
	im = linked(&in);
	CHECK(HAS(im, INSN(MOV64_REG, R6, R1, 0, 0), INSN(JSET_IMM, R6, 0, 1, 1),
		INSN(JA, 0, 0, 1, 0), INSN(JA32, 0, 0, 0, TIMES * (COUNT(each) + 3)), each[0],
		each[1]));
	ebpf_image_free(&im);
	free(insns);
}

static void types(void)
{
	const struct ebpf_insn insns[] = {RETURN(0)};
	struct ebpf_program p = {insns, COUNT(insns), 0};
	struct ebpf_link_input in = input(&p, 1);
	struct ebpf_image im = linked(&in);
	struct et_error e = {.tag = ""};
	size_t size;
	struct btf_header *h = ebpf_image_types(&im, "program", &size, &e);
	const char *names = (const char *)(h + 1) + h->str_off;

	CHECK(h->magic == BTF_MAGIC && size == sizeof(*h) + h->str_off + h->str_len);
	CHECK(memcmp(names, "\0u64\0a\0program\0main\0other", h->str_len) == 0);
	for (unsigned i = 0; i < im.nparts; i++)
		CHECK(im.parts[i].type == 3 + 2 * i);
	free(h);
	ebpf_image_free(&im);
}

int main(void)
{
	functions();
	window();
	loop();
	older();
	calls();
	many();
	far();
	types();
	return finish();
}
