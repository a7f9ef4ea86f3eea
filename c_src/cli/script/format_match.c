/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Can a text be the result of a printf() format? A node may ask the command to run a program or to
 * open a file (system(), freopen()) only if a format of the script can have made the text.
 */
#include "format_match.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_COMMAND = 128 << 10 }; /* of one argument of a program, by the kernel */

/* What a conversion of a format can make. */
struct conversion {
	bool number; /* else anything */
	bool hex, none;	     /* digits; with a precision perhaps no digit at all */
	bool before, behind; /* spaces to fill a width, or for a sign */
};

/* Past the conversion at the percent sign p. */
static const char *past_conversion(const char *p, struct conversion *c)
{
	size_t n = strspn(p + 1, "-+ 0#'@*.?123456789hlLw");
	bool wide = false, left = false, blank = false;

	*c = (struct conversion){.number = false};
	for (const char *f = p + 1; f <= p + n; f++) {
		wide |= *f == '*' || (*f >= '1' && *f <= '9');
		left |= *f == '-' || *f == '*'; /* a width that is negative */
		blank |= *f == ' ';
		c->none |= *f == '.';
	}
	p += 1 + n;
	c->number = *p != '\0' && strchr("dioxXu", *p) != NULL;
	c->hex = *p == 'x' || *p == 'X';
	c->before = wide || blank;
	c->behind = wide && left;
	return *p != '\0' ? p + 1 : p;
}

static bool is_digit(const struct conversion *c, char ch)
{
	return c->hex ? isxdigit((unsigned char)ch) != 0 : isdigit((unsigned char)ch) != 0;
}

/*
 * How far a number is: before it, behind its sign, behind the x of 0x, in its digits, behind them.
 */
enum { N_BEFORE = 1, N_SIGN = 2, N_PREFIX = 4, N_DIGITS = 8, N_BEHIND = 16 };

static unsigned number_goes_on(
	const struct conversion *c, unsigned at, const char *p, const char *end)
{
	bool digit_next = p + 1 < end && is_digit(c, p[1]);

	if (*p == ' ')
		return (at & N_BEFORE && c->before ? N_BEFORE : 0) |
		       (at & (N_DIGITS | N_BEHIND) && c->behind ? N_BEHIND : 0);
	if (*p == '-' || *p == '+')
		return at & N_BEFORE ? N_SIGN : 0;
	if ((*p == 'x' || *p == 'X') && c->hex)
		return at & N_DIGITS ? N_PREFIX : 0;
	if (*p == ',' || *p == '\'') /* between thousands */
		return at & N_DIGITS && digit_next ? N_DIGITS : 0;
	return is_digit(c, *p) && at & (N_BEFORE | N_SIGN | N_PREFIX | N_DIGITS) ? N_DIGITS : 0;
}

/* at[i]: the first i bytes can have been made so far; with the number too. */
static void add_number(const struct conversion *c, const char *text, size_t len, bool *at)
{
	unsigned now = 0;

	for (size_t i = 0; i <= len; i++) {
		bool ends = (now & (N_DIGITS | N_BEHIND)) != 0;

		now |= at[i] ? N_BEFORE : 0;
		at[i] = ends || (c->none && (now & N_BEFORE) != 0);
		if (i < len)
			now = number_goes_on(c, now, text + i, text + len);
	}
}

/*
 * Does the text come of the format? What a conversion makes may be anything, but a number is a
 * number, one word of it. at[i]: the format so far can have made the first i bytes.
 */
static bool could_print(const char *format, const char *text, size_t len, bool *at)
{
	memset(at, 0, len + 1);
	at[0] = true;
	while (*format != '\0') {
		struct conversion c;

		if (*format == '%' && format[1] != '%') {
			format = past_conversion(format, &c);
			if (c.number)
				add_number(&c, text, len, at);
			for (size_t i = 0; i < len && !c.number; i++)
				at[i + 1] |= at[i];
			continue;
		}
		for (size_t i = len; i > 0; i--)
			at[i] = at[i - 1] && text[i - 1] == *format;
		at[0] = false;
		format += *format == '%' ? 2 : 1;
	}
	return at[len];
}

bool cli_could_print(char *const *formats, int n, const char *text, size_t len)
{
	bool *at = len <= MAX_COMMAND ? malloc(len + 1) : NULL, found = false;

	for (int i = 0; at != NULL && i < n && !found; i++)
		found = could_print(formats[i], text, len, at);
	free(at);
	return found;
}
