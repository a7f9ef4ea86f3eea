/* SPDX-License-Identifier: Apache-2.0 */
/* UTF-8 (c_src/utf8.h): every character there and back; what is none; texts that are cut. */
#include "checks.h"
#include "utf8.h"

static const unsigned char *bytes(const char *s)
{
	return (const unsigned char *)s;
}

static void test_all_characters(void)
{
	unsigned bad = 0;
	char s[4];

	for (uint32_t c = 0; c <= 0x10ffff; c++) {
		size_t n = utf8_encode(c, s);

		bad += n != (c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4);
		bad += utf8_valid(bytes(s), n) != (utf8_is_char(c) ? n : 0);
		bad += utf8_is_char(c) && utf8_decode(s, n) != c;
		for (size_t i = 0; i < n; i++) /* cut off */
			bad += i > 0 && utf8_valid(bytes(s), i) != 0;
	}
	CHECK(bad == 0, "%u", bad);
}

static void test_what_is_none(void)
{
	static const char *const none[] = {"\x80", "\xc0\x80", "\xc1\xbf", "\xe0\x9f\xbf",
		"\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff",
		"\xc3(", "\xe2\x82("};

	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		ok(utf8_valid(bytes(none[i]), strlen(none[i])) == 0, "no character", none[i]);
	CHECK(utf8_len(bytes("\t"), 1) == 1 && utf8_len(bytes("\n"), 1) == 0);
	CHECK(utf8_len(bytes("\x7f"), 1) == 0 && utf8_len(bytes("\xc2\x9f"), 2) == 0);
	CHECK(utf8_len(bytes("\xc2\xa0"), 2) == 2);
}

/* "aé€😀": characters begin at 0, 1, 3, 6 */
static void test_cuts(void)
{
	static const char text[] = "a\u00e9\u20ac\U0001f600";
	static const size_t begins[] = {0, 1, 1, 3, 3, 3, 6, 6, 6, 6, 10};

	for (size_t n = 0; n <= 10; n++) {
		CHECK(utf8_start(text, n) == begins[n], "%zu", n);
		CHECK(utf8_cut(text, n) == begins[n], "%zu", n);
		CHECK(utf8_whole(text, n) == begins[n], "%zu", n);
	}
	CHECK(utf8_cut(text, 11) == 10 && utf8_cut(text, 100) == 10);
	CHECK(utf8_count(text, 10) == 4 && utf8_count(text, 0) == 0);
	CHECK(utf8_whole("ab\x80\x80", 4) == 4); /* no character is begun there */
	CHECK(utf8_whole("\x80", 1) == 1 && utf8_whole("\xff", 1) == 1);
}

int main(void)
{
	test_all_characters();
	test_what_is_none();
	test_cuts();
	return finish();
}
