/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8: the only place that reads and writes its bytes. (Probe path, and all text from outside.)
 */
#ifndef ET_UTF8_H
#define ET_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define UTF8_NONE	0xfffd /* U+FFFD, for what is no character; in UTF-8: */
#define UTF8_NONE_BYTES "\xef\xbf\xbd"

/* A byte that is not the first of its character. */
static inline bool utf8_is_tail(char byte)
{
	return ((unsigned char)byte & 0xc0) == 0x80;
}

static inline bool utf8_is_char(uint32_t c)
{
	return c < 0xd800 || (c >= 0xe000 && c <= 0x10ffff);
}

/*
 * The length of the character at s, of at most n > 0 bytes. 0: invalid UTF-8 (overlong forms and
 * surrogates included).
 */
static inline size_t utf8_valid(const unsigned char *s, size_t n)
{
	if (s[0] < 0x80)
		return 1;
	if (s[0] >= 0xc2 && s[0] <= 0xdf && n >= 2 && (s[1] & 0xc0) == 0x80)
		return 2;
	if ((s[0] & 0xf0) == 0xe0 && n >= 3 && (s[1] & 0xc0) == 0x80 && (s[2] & 0xc0) == 0x80)
		return (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0) ? 0 : 3;
	if (s[0] >= 0xf0 && s[0] <= 0xf4 && n >= 4 && (s[1] & 0xc0) == 0x80 &&
		(s[2] & 0xc0) == 0x80 && (s[3] & 0xc0) == 0x80)
		return (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] >= 0x90) ? 0 : 4;
	return 0;
}

/* The same, but 0 for control characters other than a tab. */
static inline size_t utf8_len(const unsigned char *s, size_t n)
{
	if ((s[0] < 0x20 && s[0] != '\t') || s[0] == 0x7f)
		return 0;
	if (s[0] == 0xc2 && n >= 2 && s[1] < 0xa0) /* C1 */
		return 0;
	return utf8_valid(s, n);
}

/*
 * The next character of a text of n > 0 bytes, at most 4, and its length; what is invalid, and a NUL,
 * is U+FFFD. Returns how many bytes of the text that was.
 */
static inline size_t utf8_clean(const char *text, size_t n, const char **to, size_t *len)
{
	size_t valid = text[0] != '\0' ? utf8_valid((const unsigned char *)text, n) : 0;

	*to = valid > 0 ? text : UTF8_NONE_BYTES;
	*len = valid > 0 ? valid : 3;
	return valid > 0 ? valid : 1;
}

/* The character at s, whose length utf8_valid() gave as n > 0. */
static inline uint32_t utf8_decode(const void *s, size_t n)
{
	const unsigned char *p = s;
	uint32_t c = n == 1 ? p[0] : p[0] & (0x7fu >> n);

	for (size_t i = 1; i < n; i++)
		c = c << 6 | (p[i] & 0x3f);
	return c;
}

/* The bytes of a character, up to 0x10ffff: how many. */
static inline size_t utf8_encode(uint32_t c, char buf[4])
{
	size_t n = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;

	for (size_t i = n; i-- > 1; c >>= 6)
		buf[i] = (char)(0x80 | (c & 0x3f));
	buf[0] = (char)(n == 1 ? c : (0xf00 >> n & 0xff) | c);
	return n;
}

/* How many characters. */
static inline size_t utf8_count(const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += !utf8_is_tail(text[i]);
	return n;
}

/* Where the character begins that this byte is part of. */
static inline size_t utf8_start(const char *text, size_t at)
{
	while (at > 0 && utf8_is_tail(text[at]))
		at--;
	return at;
}

/* How much of a text is kept where there is room for `most` bytes: no part of a character. */
static inline size_t utf8_cut(const char *text, size_t most)
{
	size_t len = strnlen(text, most + 1);

	return len <= most ? len : utf8_start(text, most);
}

/* The same of n bytes, where what follows them is not there. */
static inline size_t utf8_whole(const char *text, size_t n)
{
	size_t at = n, back = 0;
	unsigned char first;

	while (at > 0 && back < 3 && utf8_is_tail(text[at - 1]))
		at--, back++;
	if (at == 0)
		return n;
	first = (unsigned char)text[at - 1];
	return first >= 0xc2 && first < 0xf5 && back + 1 < 2u + (first >= 0xe0) + (first >= 0xf0)
		       ? at - 1
		       : n;
}

#endif
