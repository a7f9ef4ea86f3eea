/* SPDX-License-Identifier: Apache-2.0 */
/* Strings of JSON, in runs of bytes that stay as they are. */
#include "json_write.h"

#include <stdbool.h>
#include <string.h>

#include "utf8.h"

static bool is_plain(unsigned char c)
{
	return c >= ' ' && c != '"' && c != '\\' && c != 0x7f;
}

/* How many bytes from here on stay as they are. */
static size_t plain_len(const unsigned char *p, size_t len)
{
	size_t i = 0;

	while (i < len) {
		size_t n = is_plain(p[i]) ? utf8_valid(p + i, len - i) : 0;

		if (n == 0)
			break;
		i += n;
	}
	return i;
}

/* The byte at which a run ends. */
static void escape(jw_put *put, void *to, unsigned char c)
{
	char text[8];

	switch (c) {
	case '"': put(to, "\\\"", 2); return;
	case '\\': put(to, "\\\\", 2); return;
	case '\n': put(to, "\\n", 2); return;
	case '\t': put(to, "\\t", 2); return;
	default: break;
	}
	if (c >= 0x80)
		put(to, "\xef\xbf\xbd", 3); /* U+FFFD */
	else
		put(to, text, (size_t)snprintf(text, sizeof(text), "\\u%04x", c));
}

void jw_chars(jw_put *put, void *to, const void *text, size_t len)
{
	const unsigned char *p = text;

	for (size_t i = 0; i < len; i++) {
		size_t n = plain_len(p + i, len - i);

		if (n > 0)
			put(to, p + i, n);
		i += n;
		if (i < len)
			escape(put, to, p[i]);
	}
}

void jw_string(jw_put *put, void *to, const void *text, size_t len)
{
	put(to, "\"", 1);
	jw_chars(put, to, text, len);
	put(to, "\"", 1);
}

static void put_file(void *f, const void *text, size_t len)
{
	fwrite(text, 1, len, f);
}

void jw_fstring(FILE *f, const char *text)
{
	jw_string(put_file, f, text, strlen(text));
}

void jw_fchars(FILE *f, const char *text)
{
	jw_chars(put_file, f, text, strlen(text));
}
