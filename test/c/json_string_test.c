/* SPDX-License-Identifier: Apache-2.0 */
/* Strings of JSON (c_src/json_write.h): their bytes, and that c_src/json_read.h reads the same
 * text. */
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "json_read.h"
#include "json_write.h"

/* What is written for a text of so many bytes; static. */
static struct written {
	char text[8192];
	size_t len;
} written;

static void put(void *to, const void *text, size_t len)
{
	struct written *w = to;

	memcpy(w->text + w->len, text, len);
	w->len += len;
	w->text[w->len] = '\0';
}

static const char *string_of(const char *text, size_t len)
{
	written.len = 0;
	jw_string(put, &written, text, len);
	return written.text;
}

static void test_escapes(void)
{
	static const struct {
		const char *text, *json;
	} cases[] = {
		{"", "\"\""}, {"plain", "\"plain\""}, {"a\"b\\c", "\"a\\\"b\\\\c\""},
		{"\n\t\r\x1f\x7f", "\"\\n\\t\\u000d\\u001f\\u007f\""},
		{"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
			"\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\""},
		{"\xff", "\"\xef\xbf\xbd\""}, {"a\xc3", "\"a\xef\xbf\xbd\""}, /* cut */
		{"\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\""},		      /* overlong */
		{"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""}, /* a surrogate */
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *json = string_of(cases[i].text, strlen(cases[i].text));

		CHECK(strcmp(json, cases[i].json) == 0, "%s, not %s", json, cases[i].json);
	}
	CHECK(strcmp(string_of("a\0b", 3), "\"a\\u0000b\"") == 0, "%s", written.text);
}

/* All characters of one byte, and each among others. */
static void test_read_back(void)
{
	char text[3 * 127 + 1];
	size_t n = 0;
	struct js js;

	for (char c = 1; n < sizeof(text) - 1; c++) {
		text[n++] = c;
		text[n++] = 'x';
		text[n++] = c;
	}
	text[n] = '\0';
	string_of(text, n);
	CHECK(js_read(&js, written.text, written.len) == 0, "%s", js.what);
	CHECK(js.nodes[0].kind == JS_TEXT && strcmp(js.nodes[0].text, text) == 0);
	js_free(&js);
}

static void test_file(void)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	jw_fstring(f, "a\"b");
	putc('"', f);
	jw_fchars(f, "mailbox of ");
	jw_fchars(f, "\\");
	putc('"', f);
	fclose(f);
	CHECK(strcmp(text, "\"a\\\"b\"\"mailbox of \\\\\"") == 0, "%s", text);
	free(text);
}

int main(void)
{
	test_escapes();
	test_read_back();
	test_file();
	return finish();
}
