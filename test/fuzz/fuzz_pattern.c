/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: bytes as a pattern of Erlang, and as a key. Whatever they are, the answer is a
 * tree of nodes that holds together, or an error with a tag, a text and a position. Memory is
 * bounded.
 */
#include <stdint.h>
#include <stdlib.h>

#include "pattern_env.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST (8 << 20) /* bytes, for a text of at most 64 KB */

/* A key can be made: there is nothing in it that is matched. */
static bool is_key(const struct pat *pat)
{
	return pat_is_ground(pat) && pat->nvars == 0;
}

static void one_text(const char *text, size_t size, bool key)
{
	struct pattern_env env = {.most = size <= 1 << 16 ? MOST : 0, .key = key};
	struct et_error e = {.tag = ""};
	size_t at = SIZE_MAX;
	struct pat pat;

	if (pattern_read(&env, text, size, &pat, &at, &e) == 0) {
		if (!pattern_is_sound(&pat) || (key && !is_key(&pat)))
			abort();
	} else if (e.tag[0] == '\0' || e.text[0] == '\0' || at > size ||
		   strcmp(e.text, "out of memory for a pattern") == 0) {
		abort();
	}
	pattern_free(&env);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size > 0 ? size : 1);

	memcpy(text, data, size); /* without a NUL behind it */
	one_text(text, size, false);
	one_text(text, size, true);
	free(text);
	return 0;
}
