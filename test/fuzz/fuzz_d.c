/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: bytes as a D script through the compiler, and what compiles through the
 * verifier. Whatever the bytes are, the answer is a program that verifies or an error with a tag
 * and a text.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "btf/btf.h"
#include "d/d.h"
#include "engine/engine.h"
#include "engine/provider.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void verify_all(const struct prog *p)
{
	struct ebpf_env env;

	prog_env(p, &env);
	for (unsigned i = 0; i < p->nclauses; i++) {
		struct et_error e = {.tag = ""};

		if (ebpf_verify(p->clauses[i]->insns, p->clauses[i]->ninsns, &env, &e) < 0) {
			fprintf(stderr, "clause %u does not verify: %s\n", i, e.text);
			abort();
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const argv[] = {"fuzz", "1", "two", "3"};
	struct et_error e = {.tag = ""};
	struct et_options opts;
	struct d_registry reg;
	struct d_comp *c;
	struct en *en;
	unsigned first;
	char *text = malloc(size + 1);

	btf_folder("/nowhere"); /* the same on every machine */
	memcpy(text, data, size);
	text[size] = '\0';
	et_options_init(&opts);
	en = en_new(&opts, &e);
	en_registry(en, &reg);
	c = d_comp_new(&opts, &reg, &e);
	/* no preprocessor: it is another program's business */
	opts.val[OPT_ARGREF] = 1;
	if (c != NULL && !strstr(text, "cpp")) {
		if (d_compile(c, text, size, "fuzz.d", 4, argv, D_C_PSPEC | D_C_ZDEFS, &first,
			    &e) == 0)
			verify_all(&c->prog);
		else if (e.tag[0] == '\0' || e.text[0] == '\0')
			abort(); /* an error says which and why */
	}
	d_comp_free(c);
	en_free(en);
	et_options_free(&opts);
	free(text);
	return 0;
}
