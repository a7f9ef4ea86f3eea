/* SPDX-License-Identifier: Apache-2.0 */
/* The rules of terms (c_src/term) for those of a file. */
#include "file_terms.h"

#include "term/term_characters.h"
#include "term/term_matcher.h"
#include "term/term_printer.h"
#include "term/term_same.h"

static int same_maps(struct same *w, term_ref a, term_ref b, unsigned deep)
{
	return same_pairs(w, a, b, deep);
}

int rp_same(const struct rp_file *f, const struct term_value *a, const struct term_value *b,
	unsigned *steps)
{
	return same_values(f, a, b, steps);
}

bool rp_match(const struct rp_file *f, const struct pat *pat, const struct term_value *v,
	struct term_value *var)
{
	return match_value(f, pat->nodes, v, var);
}

bool rp_map_value(const struct rp_file *f, term_ref map, const struct pat *key, term_ref *value)
{
	struct match m = {.env = f, .node = key->nodes};

	return rp_node(map)->op == PAT_MAP && pat_is_ground(key) &&
	       value_by_walk(&m, 0, map, value);
}

void rp_print(const struct rp_file *f, const struct term_value *v, char *buf, size_t size)
{
	print_value(f, v, buf, size);
}

bool rp_chars(const struct rp_file *f, const struct term_value *v, char *buf, size_t size)
{
	return chars_of(f, v, buf, size);
}

int rp_chars_are(const struct rp_file *f, const struct term_value *v, const char *text, size_t len)
{
	return chars_are(f, v, text, len);
}
