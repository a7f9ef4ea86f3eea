/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames of the distribution as a node sends them, and as it never would: c_src/node/frame.c and
 * term.c with nothing around them. Every buffer that is parsed is as long as its bytes and no
 * longer, so that the sanitizer sees one read too many.
 */
#include "node/cancel.c"
#include "node/frame.c"
#include "node/etf.c"

#include <stdio.h>
#include <unistd.h>

static int passed, failed;

#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (cond) {                                                                        \
			passed++;                                                                  \
		} else {                                                                           \
			failed++;                                                                  \
			printf("FAILED %s:%d: %s\n", __FILE__, __LINE__, #cond);                   \
		}                                                                                  \
	} while (0)

/* ---- frames ----------------------------------------------------------------------------- */

struct bytes {
	unsigned char v[4096];
	size_t n;
};

static void put_bytes(struct bytes *b, const void *v, size_t n)
{
	memcpy(b->v + b->n, v, n);
	b->n += n;
}

#define PUT(b, text) put_bytes(b, text, sizeof(text) - 1)

#define ME	 "X\x77\x04me@h\0\0\0\1\0\0\0\0\0\0\0\7" /* <me@h.1.0>, of creation 7 */
#define OLD_ME	 "gs\x04me@h\0\0\0\1\0\0\0\0\3"
#define SOMEBODY "X\x77\x05you@h\0\0\0\2\0\0\0\0\0\0\0\1"
#define NOTHING	 "w\0"
#define TOKEN	 "h\x05" "a\1a\2a\3" SOMEBODY "a\4"

static struct bytes frame_of(const char *control, size_t n, const char *term, size_t m)
{
	struct bytes b = {.n = 0};

	PUT(&b, "p\x83");
	put_bytes(&b, control, n);
	put_bytes(&b, term, m);
	return b;
}

#define FRAME(control, term) frame_of(control, sizeof(control) - 1, term, sizeof(term) - 1)

/* In memory of just its size. */
static int parse(const void *v, size_t n, struct frame_message *m)
{
	char *copy = malloc(n > 0 ? n : 1);
	int rc;

	if (copy == NULL)
		abort();
	memcpy(copy, v, n);
	rc = frame_message(copy, n, m);
	free(copy);
	return rc;
}

static int kind(struct bytes b)
{
	struct frame_message m;

	return parse(b.v, b.n, &m) < 0 ? -1 : (int)m.kind;
}

/* A term with one of everything in it. */
static const char zoo[] = "\x83" "h\x17" "a\5" "b\0\0\1\0" "c3.14000000000000012434e+00\0\0\0\0\0"
	"F@\x09\x1e\xb8Q\xeb\x85\x1f" "d\0\3abc" "s\2xy" "v\0\4\xc3\xa5\xc3\xa4" "w\1z" ME OLD_ME
	"Y\x77\1n\0\0\0\1\0\0\0\2" "x\x77\1n\0\0\0\0\0\0\0\1\0\0\0\2" "fs\1n\0\0\0\1\1"
	"Z\0\2\x77\1n\0\0\0\2\0\0\0\1\0\0\0\2" "r\0\1\x77\1n\1\0\0\0\1" "j" "k\0\3\1\2\3"
	"l\0\0\0\2a\1l\0\0\0\1jjj" "m\0\0\0\4wire" "M\0\0\0\2\3\1\xe0" "n\2\0\1\2"
	"t\0\0\0\1w\1ka\1" "qw\5listsw\3mapa\2";

static const char a_fun[] = "p\0\0\0\x0b" "\1\2\3\4\5\6\7";

static void test_kinds(void)
{
	struct frame_message m;
	struct bytes b = FRAME("h\3a\2" NOTHING ME, "\x83m\0\0\0\2hi");

	CHECK(parse(b.v, b.n, &m) == 0 && m.kind == FRAME_SEND && m.creation == 7);
	CHECK(m.at == b.n - 7 && memcmp(b.v + m.at, "m\0\0\0\2hi", 7) == 0);
	b = FRAME("h\3a\2" NOTHING OLD_ME, "\x83j");
	CHECK(parse(b.v, b.n, &m) == 0 && m.creation == 3);
	CHECK(kind(FRAME("h\4a\x0c" NOTHING ME TOKEN, "\x83j")) == FRAME_SEND);
	CHECK(kind(FRAME("h\3a\x16" SOMEBODY ME, "\x83j")) == FRAME_SEND);
	CHECK(kind(FRAME("h\4a\x17" SOMEBODY ME TOKEN, "\x83j")) == FRAME_SEND);
	CHECK(kind(FRAME("h\4a\6" SOMEBODY NOTHING "w\3rex", "\x83j")) == FRAME_REG_SEND);
	CHECK(kind(FRAME("h\5a\x10" SOMEBODY NOTHING "w\3rex" TOKEN, "\x83j")) == FRAME_REG_SEND);
	CHECK(kind(FRAME("h\3a\x21" SOMEBODY "Z\0\1w\1n\0\0\0\1\0\0\0\1", "\x83j")) == FRAME_OTHER);
	CHECK(kind(FRAME("h\3a\1" SOMEBODY ME, "")) == FRAME_OTHER);
	CHECK(kind(FRAME("h\4a\3" SOMEBODY ME "w\4gone", "")) == FRAME_OTHER);
	CHECK(kind(FRAME("h\4a\x13" SOMEBODY ME "a\1", "")) == FRAME_OTHER);
	CHECK(kind(FRAME("h\4a\x23" "a\x2a" SOMEBODY ME, "")) == FRAME_UNLINK);
	b = frame_of("h\3a\2" NOTHING ME, 4 + 2 + sizeof(ME) - 1, zoo, sizeof(zoo) - 1);
	CHECK(kind(b) == FRAME_SEND);
	CHECK(term_size(a_fun, sizeof(a_fun) - 1) == sizeof(a_fun) - 1);
}

/* What was promised not to come, and what was never agreed on. */
static void test_others(void)
{
	CHECK(kind(FRAME("", "")) == -1);
	CHECK(kind(FRAME("j", "")) == -1);
	CHECK(kind(FRAME("h\0", "")) == -1);
	CHECK(kind(FRAME("h\1w\1x", "")) == -1);
	CHECK(kind(FRAME("h\2a\2" NOTHING, "\x83j")) == -1);
	CHECK(kind(FRAME("h\3a\2" NOTHING NOTHING, "\x83j")) == -1); /* to nobody */
	CHECK(kind(FRAME("h\3a\6" SOMEBODY NOTHING, "\x83j")) == -1);
	CHECK(kind(FRAME("h\2a\x23" "a\1", "")) == -1);
	CHECK(kind(FRAME("h\3a\2" NOTHING ME, "")) == -1);	 /* nothing sent */
	CHECK(kind(FRAME("h\3a\2" NOTHING ME, "\x83")) == -1);
	CHECK(kind(FRAME("h\3a\2" NOTHING ME, "j")) == -1);	 /* no version */
	CHECK(kind(FRAME("h\3a\2" NOTHING ME, "\x83jj")) == -1); /* more than a term */
	CHECK(kind(FRAME("h\3a\2" NOTHING ME, "\x83P\0\0\0\1x")) == -1); /* compressed */
	CHECK(kind(FRAME("h\3a\2" NOTHING ME, "\x83R\1")) == -1);	 /* an atom cache */
	CHECK(parse("\x83" "D\0", 3, &(struct frame_message){0}) == -1);
	CHECK(parse("\x83"
		    "E\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\1\0",
		      19, &(struct frame_message){0}) == -1);
	CHECK(parse("p", 1, &(struct frame_message){0}) == -1);
	CHECK(parse("", 0, &(struct frame_message){0}) == -1);
}

/* ei_recv_internal() moved -1 bytes here: an atom's length leads behind the frame's end. */
static void test_control_longer_than_its_frame(void)
{
	struct bytes b = FRAME("h\3a\2w\x1d", "\x83j");

	CHECK(kind(b) == -1);
	b = FRAME("h\3a\2d\xff\xff", "\x83j");
	CHECK(kind(b) == -1);
}

static void test_sizes_that_lie(void)
{
	static const char tags[] = {'l', 'm', 'M', 'o', 'i', 't', 'p'};
	static const uint32_t sizes[] = {2, 1000, 0x7fffffff, 0x80000000, 0xfffffffc, 0xffffffff};

	for (size_t i = 0; i < sizeof(tags); i++)
		for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
			struct bytes b = FRAME("h\3a\2" NOTHING ME, "\x83");
			unsigned char size[5] = {(unsigned char)tags[i],
				(unsigned char)(sizes[k] >> 24), (unsigned char)(sizes[k] >> 16),
				(unsigned char)(sizes[k] >> 8), (unsigned char)sizes[k]};

			put_bytes(&b, size, sizeof(size));
			PUT(&b, "j");
			CHECK(kind(b) == -1);
		}
	CHECK(kind(FRAME("h\3a\2" NOTHING ME, "\x83Z\xff\xff" NOTHING "\0\0\0\1")) == -1);
	CHECK(kind(FRAME("h\3a\2" NOTHING ME, "\x83k\0\4abc")) == -1);
	CHECK(kind(FRAME("h\3a\2" NOTHING ME, "\x83X" "a\1")) == -1); /* a process of no node */
	CHECK(kind(FRAME("h\3a\2" NOTHING ME, "\x83p\0\0\0\3")) == -1);
}

/* A million of lists in each other: no stack is long enough for each to be a call. */
static void test_deep_term(void)
{
	enum { DEEP = 1000000 };
	char *v = malloc(5 * DEEP + DEEP + 1);
	size_t n = 0;

	if (v == NULL)
		abort();
	for (int i = 0; i < DEEP; i++, n += 5)
		memcpy(v + n, "l\0\0\0\1", 5);
	memset(v + n, 'j', DEEP + 1);
	CHECK(term_size(v, n + DEEP + 1) == n + DEEP + 1);
	CHECK(term_size(v, n + DEEP) == 0);
	free(v);
}

static void test_truncated(void)
{
	struct bytes b =
		frame_of("h\3a\2" NOTHING ME, 4 + 2 + sizeof(ME) - 1, zoo, sizeof(zoo) - 1);
	struct frame_message m;

	for (size_t n = 0; n < b.n; n++)
		CHECK(parse(b.v, n, &m) == -1);
}

/* Wherever a term was accepted, it ends with the frame. */
static void check_any(const unsigned char *v, size_t n)
{
	struct frame_message m;
	bool ok = true;

	if (parse(v, n, &m) == 0 && (m.kind == FRAME_SEND || m.kind == FRAME_REG_SEND))
		ok = m.at < n && term_size((const char *)v + m.at, n - m.at) == n - m.at;
	if (!ok || n == 0)
		CHECK(ok);
}

static void test_one_byte_wrong(void)
{
	struct bytes b =
		frame_of("h\3a\2" NOTHING ME, 4 + 2 + sizeof(ME) - 1, zoo, sizeof(zoo) - 1);

	for (size_t i = 0; i < b.n; i++)
		for (int by = 1; by < 256; by++) {
			struct bytes bad = b;

			bad.v[i] = (unsigned char)(bad.v[i] ^ by);
			check_any(bad.v, bad.n);
		}
	passed++;
}

static uint64_t next_random(void)
{
	static uint64_t x = 88172645463325252u;

	x ^= x << 13;
	x ^= x >> 7;
	return x ^= x << 17;
}

static void spoil(struct bytes *b)
{
	static const unsigned char edges[] = {
		0, 1, 0x7f, 0x80, 0xff, 'l', 'h', 'i', 'm', 't', 'p', 'X'};
	size_t at = next_random() % b->n;

	switch (next_random() % 4) {
	case 0:
		b->v[at] = (unsigned char)next_random();
		break;
	case 1:
		b->v[at] = edges[next_random() % sizeof(edges)];
		break;
	case 2:
		b->n = at + 1;
		break;
	default: /* a piece of it again, elsewhere */
		memmove(b->v + at, b->v + next_random() % b->n, (b->n - at) / 2);
		break;
	}
}

static void test_random(void)
{
	for (int i = 0; i < 200000; i++) {
		struct bytes b = frame_of(
			"h\3a\2" NOTHING ME, 4 + 2 + sizeof(ME) - 1, zoo, sizeof(zoo) - 1);

		for (uint64_t n = next_random() % 6; n > 0; n--)
			spoil(&b);
		check_any(b.v, b.n);
	}
	passed++;
}

/* ---- the status of a handshake ---------------------------------------------------------- */

static int status(const char *v)
{
	size_t n = strlen(v);
	char *copy = malloc(n > 0 ? n : 1); /* without a zero behind it */
	int rc;

	if (copy == NULL)
		abort();
	memcpy(copy, v, n);
	rc = frame_status(copy, n);
	free(copy);
	return rc;
}

static void test_status(void)
{
	CHECK(status("sok") == 0 && status("sok_simultaneous") == 0 && status("s") == 0);
	CHECK(status("snot_allowed") == 0 && status("snamed:") == 0);
	CHECK(status("salive") == 1 && status("snok") == 1);
	CHECK(status("snokk") == 0 && status("sno") == 0 && status("salivee") == 0);
	CHECK(status("") == -1 && status("x") == -1 && status("alive") == -1);
}

/* ---- reading ---------------------------------------------------------------------------- */

static int pair[2];

static void open_pair(void)
{
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) < 0)
		abort();
}

static void close_pair(struct frame *f)
{
	close(pair[0]);
	close(pair[1]);
	free(f->bytes);
	*f = (struct frame){.nhead = 0};
}

static void give(const void *v, size_t n)
{
	if (write(pair[1], v, n) != (ssize_t)n)
		abort();
}

static struct bytes with_length(struct bytes b)
{
	struct bytes out = {.v = {0, 0, (unsigned char)(b.n >> 8), (unsigned char)b.n}, .n = 4};

	put_bytes(&out, b.v, b.n);
	return out;
}

static void test_reading(void)
{
	struct bytes one = FRAME("h\3a\2" NOTHING ME, "\x83m\0\0\0\3one"), all;
	struct bytes two = FRAME("h\3a\2" NOTHING ME, "\x83m\0\0\0\6second");
	struct frame f = {.nhead = 0};

	open_pair();
	CHECK(frame_read(&f, pair[0]) == 0 && frame_begun(&f) == 0);
	all = with_length(one);
	PUT(&all, "\0\0\0\0");
	two = with_length(two);
	put_bytes(&all, two.v, two.n);
	give(all.v, all.n); /* three at once: each is read alone */
	CHECK(frame_read(&f, pair[0]) == 1 && f.len == one.n && memcmp(f.bytes, one.v, one.n) == 0);
	CHECK(frame_begun(&f) == 0 && f.bytes[f.len] == 0 && f.bytes[f.len + TERM_PAD - 1] == 0);
	CHECK(frame_read(&f, pair[0]) == 1 && f.len == 0 && frame_begun(&f) == 0);
	CHECK(frame_read(&f, pair[0]) == 1 && memcmp(f.bytes, two.v + 4, two.n - 4) == 0);
	CHECK(frame_read(&f, pair[0]) == 0);
	close(pair[1]);
	CHECK(frame_read(&f, pair[0]) == -1);
	close_pair(&f);
}

/* Byte by byte, over two frames and a tick. */
static void test_slow(void)
{
	struct bytes b = with_length(FRAME("h\3a\2" NOTHING ME, "\x83m\0\0\0\4slow"));
	struct frame f = {.nhead = 0};

	open_pair();
	for (int round = 0; round < 2; round++) {
		for (size_t i = 0; i < b.n; i++) {
			CHECK(frame_read(&f, pair[0]) == 0 && frame_begun(&f) == i);
			give(b.v + i, 1);
		}
		CHECK(frame_read(&f, pair[0]) == 1 && memcmp(f.bytes, b.v + 4, b.n - 4) == 0);
		for (int i = 0; i < 4; i++) {
			CHECK(frame_read(&f, pair[0]) == 0 && frame_begun(&f) == (size_t)i);
			give("", 1);
		}
		CHECK(frame_read(&f, pair[0]) == 1 && f.len == 0);
	}
	close_pair(&f);
}

/* The end comes in the midst of a frame, wherever. */
static void test_cut(void)
{
	struct bytes b = with_length(FRAME("h\3a\2" NOTHING ME, "\x83m\0\0\0\3cut"));

	for (size_t n = 0; n < b.n; n++) {
		struct frame f = {.nhead = 0};

		open_pair();
		give(b.v, n);
		CHECK(frame_read(&f, pair[0]) == 0);
		close(pair[1]);
		CHECK(frame_read(&f, pair[0]) == -1);
		close_pair(&f);
	}
}

/* A length is a claim: memory follows what has come. */
static void test_claims(void)
{
	static const char claims[][5] = {
		"\x3f\xff\xff\xff", "\x40\0\0\0", "\x40\0\0\1", "\x80\0\0\0", "\xff\xff\xff\xff"};
	char some[10000] = "p";

	for (size_t i = 0; i < sizeof(claims) / sizeof(claims[0]); i++) {
		struct frame f = {.nhead = 0};

		open_pair();
		give(claims[i], 4);
		CHECK(frame_read(&f, pair[0]) == (i < 2 ? 0 : -2));
		CHECK(f.room <= FIRST_ROOM + TERM_PAD);
		if (i < 2) {
			give(some, sizeof(some));
			CHECK(frame_read(&f, pair[0]) == 0 && f.got == sizeof(some));
			CHECK(f.room <= 2 * sizeof(some) + TERM_PAD);
		}
		close_pair(&f);
	}
}

/* Longer than a socket holds, in pieces, then a short one into the same memory. */
static void test_long(void)
{
	enum { LONG = 3000000 };
	unsigned char head[4] = {0, LONG >> 16, (unsigned char)(LONG >> 8), (unsigned char)LONG};
	char *v = malloc(LONG);
	struct frame f = {.nhead = 0};
	size_t at = 0;
	int rc = 0;

	if (v == NULL)
		abort();
	for (size_t i = 0; i < LONG; i++)
		v[i] = (char)next_random();
	open_pair();
	give(head, 4);
	while (at < LONG && rc == 0) {
		size_t n = 1 + next_random() % 50000;

		n = n < LONG - at ? n : LONG - at;
		give(v + at, n);
		at += n;
		rc = frame_read(&f, pair[0]);
	}
	CHECK(rc == 1 && at == LONG && f.len == LONG && memcmp(f.bytes, v, LONG) == 0);
	give("\0\0\0\2ab", 6);
	CHECK(frame_read(&f, pair[0]) == 1 && f.len == 2 && memcmp(f.bytes, "ab\0\0", 4) == 0);
	free(v);
	close_pair(&f);
}

static void test_answers(void)
{
	struct frame f = {.nhead = 0};
	struct frame_message m;
	char got[256];
	struct bytes b = FRAME("h\4a\x23" "n\1\0\x2a" SOMEBODY ME, "");
	struct bytes ack = with_length(FRAME("h\4a\x24" "n\1\0\x2a" ME SOMEBODY, ""));

	open_pair();
	CHECK(frame_tick(pair[0], 1000) == 0);
	CHECK(read(pair[1], got, sizeof(got)) == 4 && memcmp(got, "\0\0\0\0", 4) == 0);
	CHECK(frame_message((char *)b.v, b.n, &m) == 0 && frame_unlinked(pair[0], &m, 1000) == 0);
	CHECK(read(pair[1], got, sizeof(got)) == (ssize_t)ack.n && memcmp(got, ack.v, ack.n) == 0);
	/* No room: a tick can be left out, an answer waits for its time and not longer. */
	while (send(pair[0], got, sizeof(got), MSG_DONTWAIT) > 0)
		;
	CHECK(frame_tick(pair[0], 1000) == 0);
	CHECK(frame_unlinked(pair[0], &m, 1) == -1);
	close(pair[1]);
	CHECK(frame_tick(pair[0], 1000) == -1 && frame_unlinked(pair[0], &m, 1000) == -1);
	close_pair(&f);
}

/* ---- atoms ------------------------------------------------------------------------------ */

static void test_atoms(void)
{
	char text[8];

	CHECK(term_atom("w\3abc", text, sizeof(text)) == 5 && strcmp(text, "abc") == 0);
	CHECK(term_atom("v\0\3abc", text, sizeof(text)) == 6 && strcmp(text, "abc") == 0);
	CHECK(term_atom("d\0\3a\xe5z", text, sizeof(text)) == 6 && strcmp(text, "a\xc3\xa5z") == 0);
	CHECK(term_atom("s\0", text, sizeof(text)) == 2 && text[0] == '\0');
	CHECK(term_atom("w\7seven..", text, sizeof(text)) == 9);
	CHECK(term_atom("w\x08" "eight...", text, sizeof(text)) == 0);
	CHECK(term_atom("s\7seven..", text, sizeof(text)) == 9);
	/* ei wrote a zero behind the place here: the last letter needs two bytes, and has one. */
	CHECK(term_atom("s\7seven.\xe5", text, sizeof(text)) == 0);
	CHECK(term_atom("s\6seven\xe5", text, sizeof(text)) == 8 &&
		strcmp(text, "seven\xc3\xa5") == 0);
	CHECK(term_atom("a\1", text, sizeof(text)) == 0);
	CHECK(term_atom("\0", text, sizeof(text)) == 0);
	/* Longer than any atom: what ei keeps a node's name in is 1021 bytes. */
	CHECK(term_size("d\1\0", 3) == 0);
	{
		char v[3 + 1021] = "v\3\xfc";

		CHECK(term_size(v, 3 + 1020) == 3 + 1020);
		v[2] = '\xfd';
		CHECK(term_size(v, 3 + 1021) == 0);
		memcpy(v, "d\0\xff", 3);
		CHECK(term_size(v, 3 + 255) == 3 + 255);
		memcpy(v, "d\1\0", 3);
		CHECK(term_size(v, 3 + 256) == 0);
	}
}

int main(void)
{
	test_kinds();
	test_others();
	test_control_longer_than_its_frame();
	test_sizes_that_lie();
	test_deep_term();
	test_truncated();
	test_one_byte_wrong();
	test_random();
	test_status();
	test_reading();
	test_slow();
	test_cut();
	test_claims();
	test_long();
	test_answers();
	test_atoms();
	printf("%d passed, %d failed\n", passed, failed);
	return failed > 0;
}
