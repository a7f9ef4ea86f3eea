/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the compiler says that clauses use (prog/uses.h) is what their bytecode does: every script
 * of the golden tests that compiles is read instruction by instruction.
 */
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "d/d.h"
#include "engine/engine.h"
#include "engine/provider.h"
#include "file.h"
#include "prog/firing.h"
#include "prog/stack_marks.h"
#include "checks.h"

#define MOST (1 << 20) /* bytes of a file */

static unsigned nscripts, nclauses;

/* ---- what the bytecode does ------------------------------------------------------------- */

struct seen {
	struct prog_uses uses;
	int64_t value[11]; /* the last constant of each register, in the order of the code */
};

/* arg0 to arg9 are words of the context, which r6 points to. */
static void look_at_load(struct seen *s, const struct ebpf_insn *in)
{
	unsigned arg = offsetof(struct fire_ctx, arg), off = (unsigned)in->off;

	if (in->src == R6 && in->off >= (int)arg && off < arg + 8 * 10)
		s->uses.args |= 1 << (off - arg) / 8;
}

static void look_at_call(struct seen *s, unsigned fn)
{
	struct prog_uses *u = &s->uses;

	u->fns[fn / 64] |= 1ULL << fn % 64;
	switch (fn) {
	case RT_var:
	case RT_strvar:
		u->vars |= 1ULL << s->value[R2];
		u->ustack |= s->value[R2] == BI_UCALLER || s->value[R2] == BI_CALLER ||
			     s->value[R2] == BI_USTACKDEPTH;
		u->stack |= s->value[R2] == BI_CALLER || s->value[R2] == BI_STACKDEPTH;
		break;
	case RT_timestamp: u->vars |= USES_VAR(TIMESTAMP); break;
	case RT_ureg: u->vars |= USES_VAR(UREGS); break;
	case RT_source_match:
	case RT_pbi_num: u->pbis |= 1u << s->value[R2]; break;
	case RT_source_part: u->pbis |= 1u << (s->value[R2] & 0xff); break;
	case RT_term_source:
	case RT_pbi_str: u->pbis |= 1u << s->value[R3]; break;
	case RT_pbi_equals: u->pbis |= 1u << (s->value[R3] & 0xff); break;
	case RT_argstr: u->args |= 1 << s->value[R3]; break;
	case RT_stack:
		u->stack |= (s->value[R4] & STACK_KIND) == STACK_KERNEL;
		u->ustack |= (s->value[R4] & STACK_KIND) != STACK_KERNEL;
		break;
	}
}

static struct prog_uses look(const struct prog_clause *c)
{
	struct seen s = {0};

	for (unsigned i = 0; i < c->ninsns; i++) {
		const struct ebpf_insn *in = &c->insns[i];

		if (in->code == EBPF_LDXDW)
			look_at_load(&s, in);
		else if (in->code == EBPF_MOV64_IMM)
			s.value[in->dst] = in->imm;
		else if (in->code == EBPF_CALL)
			look_at_call(&s, (unsigned)in->imm);
		i += in->code == EBPF_LDDW;
	}
	return s.uses;
}

/* ---- comparing ---------------------------------------------------------------------------- */

/* Variables that are no call: words of the context. */
static uint64_t fields(void)
{
	uint64_t all = USES_VAR(ID) | USES_VAR(EPID) | USES_VAR(ARGS);

	for (unsigned i = BI_ARG0; i <= BI_ARG9; i++)
		all |= 1ULL << i;
	return all;
}

static void compare(const struct prog_clause *c, const char *script)
{
	const uint32_t pbis = (1u << PBI_COUNT_) - 1;
	struct prog_uses got = look(c), said = c->uses;

	nclauses++;
	CHECK(said.fns[0] == got.fns[0] && said.fns[1] == got.fns[1], "functions: %s", script);
	CHECK((said.vars & ~fields()) == (got.vars & ~fields()), "variables %jx, not %jx: %s",
		(uintmax_t)said.vars, (uintmax_t)got.vars, script);
	CHECK((said.pbis & pbis) == got.pbis, "provider built-ins: %s", script);
	CHECK(said.stack == got.stack && said.ustack == got.ustack, "stacks: %s", script);
	/* a value that nobody takes is not loaded; usdt() hands all of them over */
	CHECK((got.args & ~said.args) == 0, "arguments %x, not %x: %s", said.args, got.args,
		script);
}

static void compile(const char *script)
{
	static const char *const argv[] = {"test", "1", "two", "3"};
	struct et_error e = {.tag = ""};
	struct et_options opts;
	struct d_registry reg;
	struct d_comp *c;
	struct en *en;
	unsigned first;

	et_options_init(&opts);
	opts.val[OPT_ARGREF] = 1;
	opts.val[OPT_DESTRUCTIVE] = 1;
	en = en_new(&opts, &e);
	if (en == NULL)
		abort();
	en_registry(en, &reg);
	c = d_comp_new(&opts, &reg, &e);
	if (c != NULL && d_compile(c, script, strlen(script), "test.d", 4, argv,
				 D_C_PSPEC | D_C_ZDEFS, &first, &e) == 0) {
		nscripts++;
		for (unsigned i = 0; i < c->prog.nclauses; i++)
			compare(c->prog.clauses[i], script);
	}
	d_comp_free(c);
	en_free(en);
	et_options_free(&opts);
}

/* Each text in quotes behind a -n of a command. */
static void read_scripts(char *text)
{
	char *end;

	while ((text = strstr(text, "\n$ erltrace ")) != NULL) {
		text += strcspn(text + 1, "'\n") + 1;
		if (*text != '\'' || text[-2] != 'n' || (end = strchr(text + 1, '\'')) == NULL)
			continue;
		*end = '\0';
		compile(text + 1);
		text = end + 1;
	}
}

int main(void)
{
	glob_t all = {0};

	if (glob("test/golden/*/*.t", 0, NULL, &all) != 0)
		return 1;
	for (size_t i = 0; i < all.gl_pathc; i++) {
		size_t len;
		char *text = file_read(all.gl_pathv[i], MOST, &len);

		if (CHECK(text != NULL, "%s", all.gl_pathv[i]))
			read_scripts(text);
		free(text);
	}
	CHECK(nscripts > 500 && nclauses > nscripts, "only %u scripts of %u clauses", nscripts,
		nclauses);
	globfree(&all);
	return finish();
}
