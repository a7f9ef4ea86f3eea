/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rules for walking stacks, as .eh_frame has them: those of programs and libraries of this machine
 * against what readelf says, and sections made by hand.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "checks.h"
#include "symbols/eh_frame.h"

/* ---- against readelf ---------------------------------------------------------------------- */

enum { COLUMNS = 24 };
struct table { /* of a function, as it is printed */
	char *column[COLUMNS];
	unsigned n;
	char names[512];
};

static const char *value_of(const struct table *t, char *const *value, const char *name)
{
	for (unsigned i = 0; i < t->n; i++)
		if (strcmp(t->column[i], name) == 0)
			return value[i];
	return "u";
}

static unsigned split(char *line, char **to)
{
	unsigned n = 0;

	for (char *s = strtok(line, " \n"); s != NULL && n < COLUMNS; s = strtok(NULL, " \n"))
		to[n++] = s;
	return n;
}

/* A saved register: "c-16" is at the CFA less 16; "u": it was not touched. */
static bool is_saved(const char *text, unsigned words)
{
	if (strcmp(text, "u") == 0 || strcmp(text, "s") == 0)
		return words == 0;
	if (strncmp(text, "c-", 2) != 0)
		return words == UNWIND_LOST || words >= UNWIND_BY_BP;
	return atoi(text + 2) / 8 == (int)words || words == UNWIND_LOST;
}

static bool is_cfa(const char *text, const struct unwind_rule *r)
{
	static const struct {
		const char *name;
		unsigned cfa;
	} known[] = {{"rsp+", UNWIND_SP}, {"rbp+", UNWIND_BP}, {"rbx+", UNWIND_BX}};

	for (unsigned i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (strncmp(text, known[i].name, 4) == 0)
			return r->cfa == known[i].cfa && r->off == atoi(text + 4);
	if (strcmp(text, "exp") == 0)
		return r->cfa == UNWIND_PLT || r->cfa == UNWIND_SIGNAL || r->cfa == UNWIND_AT_BP ||
		       r->cfa == UNWIND_NONE;
	return r->cfa == UNWIND_REGISTER || r->cfa == UNWIND_NONE;
}

static bool is_rule(const struct table *t, char **value, const struct unwind_rule *r)
{
	const char *ra = value_of(t, value, "ra"), *cfa = value_of(t, value, "CFA");

	if (strcmp(ra, "u") == 0)
		return r->cfa == UNWIND_END;
	if (strcmp(ra, "c-8") != 0)
		return r->cfa == UNWIND_NONE || r->cfa == UNWIND_SIGNAL;
	if (!is_cfa(cfa, r))
		return false;
	if (r->cfa == UNWIND_NONE || r->cfa == UNWIND_PLT || r->cfa == UNWIND_SIGNAL)
		return true;
	return is_saved(value_of(t, value, "rbp"), r->bp) &&
	       is_saved(value_of(t, value, "rbx"), r->bx);
}

/* All rows that readelf prints; how many there are, and how many of them are others here. */
static void compare(FILE *f, const struct unwind_rows *rows, unsigned *seen, unsigned *wrong)
{
	struct table t = {.n = 0};
	char line[512], copy[512], *value[COLUMNS];
	uint64_t pc;
	bool function = false;

	while (fgets(line, sizeof(line), f) != NULL) {
		if (strstr(line, " FDE ") != NULL || strstr(line, " CIE ") != NULL) {
			function = strstr(line, " FDE ") != NULL;
			t.n = 0;
		} else if (strncmp(line, "   LOC", 6) == 0) {
			strcpy(t.names, line);
			t.n = split(t.names, t.column);
		} else if (function && t.n > 0 && line[0] != '\n') {
			strcpy(copy, line);
			if (split(line, value) != t.n || sscanf(value[0], "%" SCNx64, &pc) != 1)
				continue;
			++*seen;
			if (is_rule(&t, value, unwind_find(rows, pc)))
				continue;
			if (++*wrong <= 5)
				fprintf(stderr, "%s    here: %d %+d bp %d bx %d\n", copy,
					unwind_find(rows, pc)->cfa, unwind_find(rows, pc)->off,
					unwind_find(rows, pc)->bp, unwind_find(rows, pc)->bx);
		}
	}
}

static void test_file(const char *path)
{
	unsigned seen = 0, wrong = 0;
	struct unwind_rows rows;
	char command[512];
	int fd = open(path, O_RDONLY);
	FILE *f;

	if (fd < 0 || !unwind_read(&rows, fd)) {
		CHECK(fd < 0, "%s has rules", path);
		close(fd);
		return;
	}
	close(fd);
	CHECK(!rows.cut, "%s: all of them", path);
	snprintf(command, sizeof(command),
		"readelf --wide --debug-dump=frames-interp %s 2>/dev/null", path);
	f = popen(command, "r");
	if (f != NULL)
		compare(f, &rows, &seen, &wrong);
	if (f != NULL)
		pclose(f);
	if (seen == 0)
		printf("skipped: no readelf\n");
	CHECK(wrong == 0, "%s: %u rows as readelf says, %u not", path, seen, wrong);
	unwind_free(&rows);
}

/* ---- made by hand --------------------------------------------------------------------------- */

struct section {
	uint8_t bytes[1024];
	size_t n, entry;
};
enum { AT = 0x10000, CODE = 0x1000, CODE_END = 0x2000 };

static void put(struct section *s, const void *bytes, size_t n)
{
	memcpy(s->bytes + s->n, bytes, n);
	s->n += n;
}

static void put32(struct section *s, uint32_t v)
{
	put(s, &v, 4);
}

static void begin(struct section *s, uint32_t id)
{
	s->entry = s->n;
	put32(s, 0);
	put32(s, id != 0 ? (uint32_t)s->n - id + 1 : 0); /* id: of the common entry, from 1 on */
}

static void end_entry(struct section *s)
{
	uint32_t size = (uint32_t)(s->n - s->entry - 4);

	memcpy(s->bytes + s->entry, &size, 4);
}

/* "zR", addresses relative and 32 bits wide; at first the CFA is at rsp+8. */
static void put_common(struct section *s)
{
	static const uint8_t rest[] = {1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1};

	begin(s, 0);
	put(s, rest, sizeof(rest));
	end_entry(s);
}

static void put_function(
	struct section *s, uint32_t from, uint32_t size, const uint8_t *insns, size_t n)
{
	begin(s, 1);
	put32(s, from - (uint32_t)(AT + s->n));
	put32(s, size);
	put(s, "", 1);
	put(s, insns, n);
	end_entry(s);
}

static struct unwind_rows decoded(const struct section *s)
{
	struct unwind_rows rows;

	unwind_decode(&rows, s->bytes, s->n, AT, CODE, CODE_END);
	return rows;
}

static bool is(const struct unwind_rows *rows, uint64_t at, unsigned cfa, int off, unsigned bp)
{
	const struct unwind_rule *r = unwind_find(rows, at);

	return r->cfa == cfa && r->off == off && r->bp == bp;
}

static void test_made(void)
{
	/* push %rbp at 1; mov at 4; pop at 20: as compilers say it */
	static const uint8_t frame[] = {
		0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x50, 0x0a, 0x0c, 7, 8, 0x41, 0x0b};
	static const uint8_t wrong[] = {0x41, 0x0e, 16, 0x44, 0x3b, 0x44};
	static const uint8_t last[] = {0x07, 16};
	struct section s = {.n = 0};
	struct unwind_rows rows;

	put_common(&s);
	put_function(&s, 0x1000, 0x20, frame, sizeof(frame));
	put_function(&s, 0x1028, 0x18, wrong, sizeof(wrong));
	put_function(&s, 0x1100, 0x10, last, sizeof(last));
	put_function(&s, 0x3000, 0x10, last, sizeof(last));
	rows = decoded(&s);
	CHECK(is(&rows, 0xfff, UNWIND_NONE, 0, 0), "nothing is known before the first function");
	CHECK(is(&rows, 0x1000, UNWIND_SP, 8, 0), "a function begins");
	CHECK(is(&rows, 0x1001, UNWIND_SP, 16, 2) && is(&rows, 0x1003, UNWIND_SP, 16, 2),
		"it has saved a register");
	CHECK(is(&rows, 0x1004, UNWIND_BP, 16, 2), "it has a frame pointer");
	CHECK(is(&rows, 0x1014, UNWIND_SP, 8, 2), "it returns");
	CHECK(is(&rows, 0x1015, UNWIND_BP, 16, 2), "what was remembered");
	CHECK(is(&rows, 0x1020, UNWIND_BP, 16, 2), "padding is nobody's, and needs no row");
	CHECK(is(&rows, 0x1029, UNWIND_SP, 16, 0), "before a wrong instruction");
	CHECK(is(&rows, 0x102d, UNWIND_NONE, 0, 0), "after it nothing is known");
	CHECK(is(&rows, 0x1040, UNWIND_NONE, 0, 0), "nor between functions");
	CHECK(is(&rows, 0x1100, UNWIND_END, 0, 0), "one that nobody calls");
	CHECK(is(&rows, 0x1110, UNWIND_NONE, 0, 0), "nothing is known after the last");
	CHECK(is(&rows, 0x3000, UNWIND_NONE, 0, 0), "nor outside of the code");
	unwind_free(&rows);
	for (size_t n = 0; n < s.n; n++) {
		struct section part = s;

		part.n = n;
		rows = decoded(&part);
		unwind_free(&rows);
	}
	CHECK(true, "each beginning of it is read");
}

/* Functions that all name another common entry, each a long one: the work is limited. */
static void test_work(void)
{
	enum { SIZE = 1 << 20, HALF = SIZE / 2 };
	uint8_t *bytes = calloc(1, SIZE + 8);
	struct unwind_rows rows;
	uint32_t size = HALF - 4, one = 12;

	for (size_t at = HALF; at < SIZE; at += 16) {
		uint32_t back =
			(uint32_t)(at + 4 - (at / 16 % 2 ? 0 : 256)); /* both look the same */

		memcpy(bytes + at, &one, 4);
		memcpy(bytes + at + 4, &back, 4);
	}
	memcpy(bytes, &size, 4);
	memcpy(bytes + 8, "\1zR\0\1\x78\x10\1\x1b", 9);
	size = HALF - 256 - 4;
	memcpy(bytes + 256, &size, 4);
	memcpy(bytes + 256 + 8, "\1zR\0\1\x78\x10\1\x1b", 9);
	unwind_decode(&rows, bytes, SIZE, AT, CODE, CODE_END);
	CHECK(rows.n == 0, "a large common entry that is asked for again and again");
	unwind_free(&rows);
	free(bytes);
}

int main(void)
{
	char self[32];

	test_made();
	test_work();
	snprintf(self, sizeof(self), "/proc/%d/exe", (int)getpid());
	test_file(self);
	test_file("/lib/x86_64-linux-gnu/libc.so.6");
	test_file("/lib64/ld-linux-x86-64.so.2");
	test_file("/usr/lib/x86_64-linux-gnu/libstdc++.so.6");
	test_file("/usr/lib/x86_64-linux-gnu/libcrypto.so.3");
	return finish();
}
