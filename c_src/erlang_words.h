/* SPDX-License-Identifier: Apache-2.0 */
/* The reserved words of Erlang: an atom that is one needs quotes. */
#ifndef ET_ERLANG_WORDS_H
#define ET_ERLANG_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* In every release. (maybe and else came with OTP 27.) */
static inline bool erlang_is_reserved(const char *name)
{
	static const char words[][8] = {"after", "and", "andalso", "band", "begin", "bnot", "bor",
		"bsl", "bsr", "bxor", "case", "catch", "cond", "div", "end", "fun", "if", "let",
		"not", "of", "or", "orelse", "receive", "rem", "try", "when", "xor"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i], name) == 0)
			return true;
	return false;
}

#endif
