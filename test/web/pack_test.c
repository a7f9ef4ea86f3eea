/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packed ticks (c_src/web/pack.c): what was packed is unpacked here, by the words of pack.h, and is
 * the text again, byte for byte; what cannot be packed is left as text.
 */
#include "web/pack.c"

#include <stdarg.h>

#include "checks.h"

static struct web_pack p;

/* ---- back to text ----------------------------------------------------------------------- */

static char text[1 << 22];
static size_t ntext;

static void say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	ntext += (size_t)vsnprintf(text + ntext, sizeof(text) - ntext, fmt, ap);
	va_end(ap);
}

static uint64_t get(const unsigned char **at)
{
	uint64_t n = 0;

	for (int shift = 0;; shift += 7) {
		n |= (uint64_t)(**at & 127) << shift;
		if (*(*at)++ < 128)
			return n;
	}
}

static int64_t get_signed(const unsigned char **at)
{
	uint64_t n = get(at);

	return n & 1 ? -(int64_t)(n >> 1) - 1 : (int64_t)(n >> 1);
}

static void say_list(const unsigned char **at, uint64_t left)
{
	int64_t place = 0;
	bool first = true;

	while (left > 0) {
		uint64_t head = get(at), n = head / 4;
		int64_t lo = 0, width = 0;

		switch (head % 4) {
		case RUN_SAME:
			lo = place + get_signed(at);
			width = (int64_t)get(at);
			place = lo + (int64_t)n * width;
			break;
		case RUN_NO_LO: place = get_signed(at); break;
		default: place += get_signed(at);
		}
		for (uint64_t i = 0; i < n; i++, lo += width, first = false) {
			say("%s{\"lo\":", first ? "" : ",");
			if (head % 4 == RUN_NO_LO)
				say("null,\"hi\":%lld", (long long)place);
			else if (head % 4 == RUN_NO_HI)
				say("%lld,\"hi\":null", (long long)place);
			else
				say("%lld,\"hi\":%lld", (long long)lo, (long long)(lo + width));
			say(",\"count\":%llu}", (unsigned long long)get(at));
		}
		left -= n;
	}
}

/* The message that p has, as text. */
static const char *unpacked(void)
{
	static const char mark[] = "\"buckets\":";
	size_t head = p.out.v[0] | p.out.v[1] << 8 | p.out.v[2] << 16 | (size_t)p.out.v[3] << 24;
	const char *from = (char *)p.out.v + 4, *end = from + head, *next;
	const unsigned char *at = (unsigned char *)end;

	ntext = 0;
	while ((next = memmem(from, (size_t)(end - from), mark, sizeof(mark) - 1)) != NULL) {
		char *rest;

		next += sizeof(mark) - 1;
		say("%.*s[", (int)(next - from), from);
		say_list(&at, strtoull(next, &rest, 10));
		say("]");
		from = rest;
	}
	say("%.*s", (int)(end - from), from);
	CHECK(at == p.out.v + p.out.n);
	return text;
}

/* ---- lines ------------------------------------------------------------------------------ */

static bool pack_line(const char *line)
{
	return web_pack(&p, 7, line, strlen(line));
}

static bool same(const char *line)
{
	static char wanted[1 << 22];

	snprintf(wanted, sizeof(wanted), "{\"type\":\"line\",\"id\":7,\"line\":%s}", line);
	return pack_line(line) && strcmp(unpacked(), wanted) == 0;
}

#define TICK(items) "{\"type\":\"tick\",\"node\":\"a@h\",\"time\":1,\"aggregations\":[" items \
		    "],\"fired\":9,\"cost\":0.5}"
#define ITEM(keys, buckets) "{\"aggregation\":\"t\",\"function\":\"lquantize\",\"keys\":[" keys \
			    "],\"buckets\":[" buckets "],\"normal\":1}"
#define B(lo, hi, count) "{\"lo\":" #lo ",\"hi\":" #hi ",\"count\":" #count "}"

static void test_lines(void)
{
	static const unsigned char runs[] = {5, 3, 3, 8, 4, 5, 1, 200, 1, 6, 20, 1};

	CHECK(same(TICK(ITEM("\"x\"", B(null, 0, 1) "," B(0, 1, 22) "," B(8, 16, 333)))));
	CHECK(same(TICK(ITEM("", ""))));
	CHECK(same(TICK(ITEM("1", B(-7, -3, 5) "," B(-3, -1, 2251799813685248) "," B(-1, 0, 0)))));
	CHECK(same(TICK(ITEM("\"x\"", B(0, 2, 1)) "," ITEM("[\"s\",\"t\"]",
		B(10, 20, 128) "," B(20, 30, 16384) "," B(60, 70, 1) "," B(70, null, 1)))));
	CHECK(same(TICK(ITEM("\"x\"", B(-2251799813685248, 2251799813685248, 1)))));
	CHECK(same(TICK("{\"aggregation\":\"n\",\"function\":\"count\",\"keys\":[],\"value\":17},"
		ITEM("", B(null, -5, 1)))));
	/* Keys are what a traced program made of them. */
	CHECK(same(TICK(ITEM("\"\\\"buckets\\\":[\"", B(1, 2, 3)))));
	CHECK(same(TICK(ITEM("\"buckets\",\"\\\\\",\"]}\"", B(1, 2, 3)))));
	CHECK(same(TICK(ITEM("\"gr\xc3\xb6\xc3\x9f" "e\"", B(1, 2, 3)))));
	/* The same bytes as in wire_test.js. */
	CHECK(same(TICK(ITEM(
		"\"x\"", B(null, -2, 3) "," B(0, 5, 1) "," B(5, 10, 200) "," B(20, null, 1)))));
	CHECK(p.out.n > sizeof(runs) &&
	      memcmp(p.out.v + p.out.n - sizeof(runs), runs, sizeof(runs)) == 0);
}

static void test_left_as_text(void)
{
	static const char *const lines[] = {
		"",
		"{}",
		"{\"type\":\"tick\",",
		TICK(""),
		TICK("{\"aggregation\":\"n\",\"function\":\"count\",\"keys\":[\"buckets\"],"
		     "\"value\":17}"),
		"{\"type\":\"aggregation\"," ITEM("", B(1, 2, 3)) "}",
		TICK(ITEM("", B(1, 2, -3))),
		TICK(ITEM("", B(1, 2, 3.5))),
		TICK(ITEM("", B(2, 1, 3))),
		TICK(ITEM("", B(null, null, 3))),
		TICK(ITEM("", B(1, 2251799813685249, 3))),
		TICK(ITEM("", B(1, 99999999999999999999999, 3))),
		TICK(ITEM("", B(1, 2, 9223372036854775807))),
		TICK(ITEM("", B(1, 2, 3) ",")),
		TICK(ITEM("", B(1, 2, 3) B(1, 2, 3))),
		TICK(ITEM("", "{\"lo\":1,\"hi\":2}")),
		TICK(ITEM("", "{\"hi\":2,\"lo\":1,\"count\":3}")),
		TICK(ITEM("", B(1, 2, ))),
		TICK(ITEM("", B(-, 2, 1))),
	};
	const char *whole = TICK(ITEM("\"x\\\\\"", B(1, 2, 3) "," B(2, null, 3)));

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		CHECK(!pack_line(lines[i]));
		if (pack_line(lines[i]))
			printf("  %s\n", lines[i]);
	}
	/* Cut anywhere, in memory of its own: nothing is read behind it. */
	for (size_t n = 0; n < strlen(whole); n++) {
		char *line = malloc(n + 1);
		const char *list = strstr(whole, "]");
		bool packed;

		memcpy(line, whole, n);
		line = realloc(line, n > 0 ? n : 1);
		packed = web_pack(&p, 7, line, n);
		CHECK(!packed || whole + n > list);
		free(line);
	}
	CHECK(same(whole));
}

/* ---- any -------------------------------------------------------------------------------- */

static uint64_t seed = 1;

static int64_t any(int64_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (int64_t)((seed >> 16) % (uint64_t)below);
}

static void test_any(void)
{
	static char line[1 << 20];
	int equal = 0;

	for (int i = 0; i < 3000; i++) {
		size_t n = (size_t)sprintf(line, "{\"type\":\"tick\",\"aggregations\":[");

		for (int64_t items = any(5), k = 0; k <= items; k++) {
			int64_t lo = any(1000) - 500, width = 1 + any(1 << any(30));

			n += (size_t)sprintf(line + n, "%s{\"keys\":[\"k%d\"],\"buckets\":[",
				k > 0 ? "," : "", (int)k);
			for (int64_t b = 0, all = any(300); b < all; b++) {
				if (any(4) == 0)
					lo += any(1000);
				if (any(8) == 0)
					width = 1 + any(1 << any(30));
				n += (size_t)sprintf(line + n,
					"%s{\"lo\":%lld,\"hi\":%lld,\"count\":%lld}",
					b > 0 ? "," : "", (long long)lo, (long long)(lo + width),
					(long long)any(1LL << any(51)));
				lo += width;
			}
			n += (size_t)sprintf(line + n, "]}");
		}
		sprintf(line + n, "]}");
		equal += same(line);
	}
	CHECK(equal == 3000);
}

int main(void)
{
	test_lines();
	test_left_as_text();
	test_any();
	web_pack_free(&p);
	return finish();
}
