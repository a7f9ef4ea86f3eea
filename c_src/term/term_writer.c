/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Numbers, characters and binaries as text (probe path): as io_lib:format("~0tp") writes them; in
 * binaries all of Unicode is printable. Every step writes at least one character or is counted
 * against the room. What has more characters than there is room for is a text if those are
 * printable.
 */
#include "term_writer.h"

#include <stdio.h>
#include <stdlib.h>

#include "compiler.h"
#include "erlang_words.h"

#define DOTS 8	/* bytes of room from which on a text that is cut ends with dots */
#define BIG  16 /* words of a large integer written in tens; beyond that in hexadecimal */

/* ---- numbers --------------------------------------------------------------------------- */

PROBE_PATH static void decimal(struct term_writer *w, uint64_t v, bool negative)
{
	char text[24], *p = text + sizeof(text);

	do
		*--p = (char)('0' + v % 10);
	while ((v /= 10) != 0);
	if (negative)
		*--p = '-';
	write_bytes(w, p, (size_t)(text + sizeof(text) - p));
}

PROBE_PATH void write_int(struct term_writer *w, int64_t v)
{
	decimal(w, v < 0 ? 0 - (uint64_t)v : (uint64_t)v, v < 0);
}

PROBE_PATH void write_uint(struct term_writer *w, uint64_t v)
{
	decimal(w, v, false);
}

/* Divide d[0..n) by 10^18; gives the remainder. */
PROBE_PATH static uint64_t divide(uint64_t *d, unsigned n)
{
	unsigned __int128 rest = 0;
	const uint64_t by = 1000000000000000000;

	for (unsigned i = n; i-- > 0;) {
		rest = rest << 64 | d[i];
		d[i] = (uint64_t)(rest / by);
		rest %= by;
	}
	return (uint64_t)rest;
}

PROBE_PATH static void big_decimal(struct term_writer *w, const uint64_t *digits, unsigned n)
{
	uint64_t d[BIG];
	char text[BIG * 20 + 20], *p = text + sizeof(text);

	memcpy(d, digits, n * sizeof(*d));
	while (n > 0) {
		uint64_t v = divide(d, n);

		while (n > 0 && d[n - 1] == 0)
			n--;
		for (int i = 0; n > 0 ? i < 18 : v != 0; i++, v /= 10)
			*--p = (char)('0' + v % 10);
	}
	write_bytes(w, p, (size_t)(text + sizeof(text) - p));
}

PROBE_PATH void write_big(struct term_writer *w, const uint64_t *digits, unsigned n, bool negative)
{
	char text[20];

	if (negative)
		write_text(w, "-");
	if (n <= BIG) {
		big_decimal(w, digits, n);
		return;
	}
	snprintf(text, sizeof(text), "16#%llX", (unsigned long long)digits[n - 1]);
	write_text(w, text);
	for (unsigned i = n - 1; i-- > 0 && !w->cut;) {
		snprintf(text, sizeof(text), "%016llX", (unsigned long long)digits[i]);
		write_text(w, text);
	}
}

/*
 * "1.29e+07" -> "1.30e+07", if that is the same number. What reads back as a power of two reaches
 * further up than down: the nearest text of some length may be below it, and the next one in it.
 */
PROBE_PATH static bool next_up(char *text, double d)
{
	char copy[40], *p = copy + (strchr(text, 'e') - text);

	memcpy(copy, text, sizeof(copy));
	while (--p > copy && (*p == '9' || *p == '.'))
		if (*p == '9')
			*p = '0';
	if (*p == '9')
		return false;
	++*p;
	if (strtod(copy, NULL) != d)
		return false;
	memcpy(text, copy, sizeof(copy));
	return true;
}

/* The digits of a number, as few as read back as the same: digits[0].digits[1..] * 10^exp. */
PROBE_PATH static int shortest(double d, char digits[20], int *exp)
{
	/* Below that, numbers have fewer digits than 15. */
	int n = d < 2.3e-308 ? 1 : 15;
	char text[40] = "", *e;

	do
		snprintf(text, sizeof(text), "%.*e", n - 1, d);
	while (strtod(text, NULL) != d && !next_up(text, d) && n++ < 17);
	e = strchr(text, 'e');
	*exp = 0;
	for (char *p = e + 2; *p != '\0'; p++)
		*exp = *exp * 10 + (*p - '0');
	if (e[1] == '-')
		*exp = -*exp;
	n = 0;
	for (char *p = text; p < e; p++)
		if (*p != '.')
			digits[n++] = *p;
	while (n > 1 && digits[n - 1] == '0')
		n--;
	return n;
}

PROBE_PATH static void zeros(struct term_writer *w, int n)
{
	while (n-- > 0)
		write_text(w, "0");
}

/* 1.5, 0.0001, 1.0e5, 1.5e-7: without an exponent where that is not longer, up to 2^53. */
PROBE_PATH void write_double(struct term_writer *w, double d)
{
	char digits[20];
	int n, exp, plain_len, exp_len;

	if (__builtin_signbit(d)) {
		write_text(w, "-");
		d = -d;
	}
	n = shortest(d, digits, &exp);
	plain_len = exp < 0 ? 1 - exp + n : exp < n - 1 ? n + 1 : exp + 3;
	exp_len = (n > 1 ? n + 1 : 3) + 2 + (exp < 0) + (exp <= -10 || exp >= 10) +
		  (exp <= -100 || exp >= 100);
	if (plain_len > exp_len || d >= 9007199254740992.0) {
		write_bytes(w, digits, 1);
		write_text(w, ".");
		write_bytes(w, n > 1 ? digits + 1 : "0", n > 1 ? (size_t)n - 1 : 1);
		write_text(w, exp < 0 ? "e-" : "e");
		write_uint(w, (uint64_t)abs(exp));
	} else if (exp < 0) {
		write_text(w, "0.");
		zeros(w, -exp - 1);
		write_bytes(w, digits, (size_t)n);
	} else if (exp < n - 1) {
		write_bytes(w, digits, (size_t)exp + 1);
		write_text(w, ".");
		write_bytes(w, digits + exp + 1, (size_t)(n - 1 - exp));
	} else {
		write_bytes(w, digits, (size_t)n);
		zeros(w, exp - n + 1);
		write_text(w, ".0");
	}
}

/* ---- texts ----------------------------------------------------------------------------- */

PROBE_PATH void write_char(struct term_writer *w, uint32_t c)
{
	char text[4] = {'\\', erlang_escape(c, '"')};

	write_bytes(w, text, text[1] != '\0' ? 2 : utf8_encode(c, text));
}

/*
 * How a binary is a text: 0: not; 1: ASCII, or bytes that are characters of Latin-1; 2: UTF-8. As
 * far as there is room to write it.
 */
PROBE_PATH static int kind_of_text(struct term_writer *w, const struct term_bits *b)
{
	uint64_t n = b->n / 8, most = n < w->room - w->len ? n : w->room - w->len, i = 0;
	bool utf8 = false, printable = true, latin1 = true;
	size_t k = 1;
	char s[4];

	if (n == 0 || b->n % 8 != 0)
		return 0;
	for (; i < most && (k = term_char_at(b, i, s)) > 0; i += k, w->steps++) {
		printable = printable && write_can(utf8_decode(s, k));
		utf8 = utf8 || k > 1;
	}
	if (k > 0)
		return !printable ? 0 : utf8 ? 2 : 1;
	for (i = 0; i < most && latin1; i++, w->steps++)
		latin1 = write_can(term_octet(b, i));
	return latin1;
}

PROBE_PATH static void text_binary(struct term_writer *w, const struct term_bits *b, bool utf8)
{
	char s[4];
	size_t k = 1;

	write_text(w, "<<\"");
	for (uint64_t i = 0; i < b->n / 8 && !write_full(w); i += k) {
		if (utf8 && (k = term_char_at(b, i, s)) == 0)
			break;
		write_char(w, utf8 ? utf8_decode(s, k) : term_octet(b, i));
	}
	write_text(w, utf8 ? "\"/utf8>>" : "\">>");
}

PROBE_PATH void write_bits(struct term_writer *w, const struct term_bits *b)
{
	uint64_t n = b->n / 8, i;
	unsigned rest = b->n % 8;
	int text = kind_of_text(w, b);

	if (text != 0) {
		text_binary(w, b, text == 2);
		return;
	}
	write_text(w, "<<");
	for (i = 0; i < n && !write_full(w); i++) {
		if (i > 0)
			write_text(w, ",");
		write_uint(w, term_octet(b, i));
	}
	if (rest != 0 && !write_full(w)) {
		if (n > 0)
			write_text(w, ",");
		write_uint(w, term_last_octet(b) >> (8 - rest));
		write_text(w, ":");
		write_uint(w, rest);
	}
	write_text(w, ">>");
}

/* ---- the end --------------------------------------------------------------------------- */

PROBE_PATH void write_end(struct term_writer *w, bool all)
{
	bool cut = w->cut || !all, dots = cut && w->room >= DOTS;

	if (cut)
		w->len = utf8_whole(w->buf, w->room - (dots ? 3 : 0));
	if (dots) {
		memcpy(w->buf + w->len, "...", 3);
		w->len += 3;
	}
	w->buf[w->len] = '\0';
}
