/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: bytes as a pattern of Erlang. Whatever they are, the answer is a tree of nodes
 * that holds together, or an error with a tag, a text and a position. Memory is bounded.
 */
#include <stdint.h>
#include <stdlib.h>

#include "pattern_env.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MOST (8 << 20) /* bytes, for a text of at most 64 KB */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pattern_env env = {.most = size <= 1 << 16 ? MOST : 0};
	struct et_error e = {.tag = ""};
	char *text = malloc(size > 0 ? size : 1);
	size_t at = SIZE_MAX;
	struct pat pat;

	memcpy(text, data, size); /* without a NUL behind it */
	if (pattern_read(&env, text, size, &pat, &at, &e) == 0) {
		if (!pattern_is_sound(&pat))
			abort();
	} else if (e.tag[0] == '\0' || e.text[0] == '\0' || at > size ||
		   strcmp(e.text, "out of memory for a pattern") == 0) {
		abort();
	}
	pattern_free(&env);
	free(text);
	return 0;
}
