/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 validation, for all text from outside that is displayed. */
#ifndef ET_UTF8_H
#define ET_UTF8_H

#include <stddef.h>
#include <string.h>

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

	*to = valid > 0 ? text : "\xef\xbf\xbd";
	*len = valid > 0 ? valid : 3;
	return valid > 0 ? valid : 1;
}

/* How much of a text is kept where there is room for `most` bytes: no part of a character. */
static inline size_t utf8_cut(const char *text, size_t most)
{
	size_t len = strnlen(text, most + 1);

	if (len <= most)
		return len;
	for (len = most; len > 0 && ((unsigned char)text[len] & 0xc0) == 0x80; len--)
		;
	return len;
}

#endif
