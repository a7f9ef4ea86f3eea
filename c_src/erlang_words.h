/* SPDX-License-Identifier: Apache-2.0 */
/* The words of Erlang: letters of names, escapes, reserved words. What is another atom needs quotes. */
#ifndef ET_ERLANG_WORDS_H
#define ET_ERLANG_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Letters of Latin-1 are letters. A plain atom begins with a small one. */
static inline bool erlang_is_small(uint32_t c)
{
	return (c >= 'a' && c <= 'z') || (c >= 0xdf && c <= 0xff && c != 0xf7);
}

static inline bool erlang_is_capital(uint32_t c)
{
	return (c >= 'A' && c <= 'Z') || c == '_' || (c >= 0xc0 && c <= 0xde && c != 0xd7);
}

/* In a name, behind its first letter. */
static inline bool erlang_is_inner(uint32_t c)
{
	return erlang_is_small(c) || erlang_is_capital(c) || (c >= '0' && c <= '9') || c == '@';
}

/* What is behind the backslash of a character in such quotes; 0: it has no short escape. */
static inline char erlang_escape(uint32_t c, char quote)
{
	static const char from[] = "\b\t\n\v\f\r\033\177\\", to[] = "btnvfred\\";
	const char *p = c > 0 && c < 128 ? strchr(from, (int)c) : NULL;

	return c == (unsigned char)quote ? quote : p != NULL ? to[p - from] : '\0';
}

/* The character that such a letter behind a backslash stands for; 0: none. */
static inline char erlang_unescape(char letter)
{
	static const char from[] = "btnvfresd\\\"'", to[] = "\b\t\n\v\f\r\033 \177\\\"'";
	const char *p = letter != '\0' ? strchr(from, letter) : NULL;

	return p != NULL ? to[p - from] : '\0';
}

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
