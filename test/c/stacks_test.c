/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --folded, --speedscope, --pprof: how stacks are added up, and what the files have. (Readers that
 * are not ours read such files in test/node/stack_files.sh.)
 */
#include "output/stacks.c"
#include "output/folded.c"
#include "output/speedscope.c"
#include "output/pprof.c"

#include "checks.h"

static erltrace_value_t text_key(const char *text)
{
	return (erltrace_value_t){.kind = ERLTRACE_STRING, .bytes = text, .len = strlen(text)};
}

static erltrace_value_t stack_key(const char *frames, int is_kernel)
{
	return (erltrace_value_t){.kind = ERLTRACE_STACK,
		.bytes = frames,
		.len = strlen(frames),
		.is_kernel = is_kernel};
}

static void add(struct stacks *s, const char *name, const char *function, int64_t value,
	const erltrace_value_t *keys, unsigned n)
{
	erltrace_agg_t a = {
		.name = name, .function = function, .keys = keys, .nkeys = n, .value = value};

	stacks_add(s, &a);
}

static void add_stack_of(struct stacks *s, const char *frames, int64_t value)
{
	erltrace_value_t key = stack_key(frames, 0);

	add(s, "_", "count", value, &key, 1);
}

void cli_say(const char *fmt, ...)
{
	(void)fmt;
}

const char *output_names(char *buf, size_t size, unsigned traits, const char *before_last)
{
	(void)size, (void)traits, (void)before_last;
	return strcpy(buf, "--others");
}

static char *written(struct stacks *s, const struct sink *to, size_t *len)
{
	const struct output o = {.stacks = s};
	char *text = NULL;
	FILE *f = open_memstream(&text, len);

	stacks_finish(s);
	CHECK(to->write(&o, &o.chosen[0], "a title", f));
	fclose(f);
	return text;
}

static void is_folded(const char *what, struct stacks *s, const char *wanted)
{
	size_t len;
	char *text = written(s, &folded_output, &len);

	ok(strcmp(text, wanted) == 0, what, text);
	free(text);
	stacks_free(s);
}

static void test_frames(void)
{
	static const struct {
		const char *text, *name, *file, *module;
		uint64_t line, address;
	} t[] = {
		{"lists:seq/2", "lists:seq/2", NULL, NULL, 0, 0},
		{"lists:seq/2 (lists.erl:12)", "lists:seq/2", "lists.erl", NULL, 12, 0},
		{"'Elixir.A':f/0 (lib/a b.ex:3)", "'Elixir.A':f/0", "lib/a b.ex", NULL, 3, 0},
		{"m:'f (x:1)'/0", "m:'f (x:1)'/0", NULL, NULL, 0, 0},
		{"'a`b':f/0", "'a`b':f/0", NULL, NULL, 0, 0},
		{"m:'+0x1'/0", "m:'+0x1'/0", NULL, NULL, 0, 0},
		{"libc.so.6`read+0x1f", "libc.so.6`read", NULL, "libc.so.6", 0, 0},
		{"libc.so.6`read", "libc.so.6`read", NULL, "libc.so.6", 0, 0},
		{"libx.so`a::b(int)+0x1", "libx.so`a::b(int)", NULL, "libx.so", 0, 0},
		{"libc.so.6`0x7f00", "[libc.so.6]", NULL, "libc.so.6", 0, 0x7f00},
		{"beam.smp+0x1c0aa", "[beam.smp]", NULL, "beam.smp", 0, 0x1c0aa},
		{"0x7f00", "[unknown]", NULL, NULL, 0, 0x7f00},
		{"(garbage collection)", "(garbage collection)", NULL, NULL, 0, 0},
		{"", "", NULL, NULL, 0, 0},
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct stacks *s = stacks_new();
		const struct st_frame *f;

		push_frame(s, t[i].text, strlen(t[i].text), false);
		f = &s->frames[0];
		ok(strcmp(f->name, t[i].name) == 0, t[i].text, f->name);
		ok((f->file == NULL) == (t[i].file == NULL) &&
				(f->file == NULL || strcmp(f->file, t[i].file) == 0),
			t[i].text, f->file);
		ok((f->module == NULL) == (t[i].module == NULL) &&
				(f->module == NULL || strcmp(f->module, t[i].module) == 0),
			t[i].text, f->module);
		CHECK(f->line == t[i].line && f->address == t[i].address, "%s", t[i].text);
		stacks_free(s);
	}
}

static void test_order(void)
{
	struct stacks *s = stacks_new();
	const erltrace_value_t keys[] = {stack_key("vmlinux`inner+0x2\nvmlinux`outer+0x1\n", 1),
		text_key("node"), stack_key("libc.so.6`read+0x1\nmain:f/0\n0x0\n", 0),
		{.kind = ERLTRACE_INT, .is_signed = 1, .i = -7}};

	add(s, "a", "count", 3, keys, 4);
	is_folded("keys, then the program's frames, then the kernel's", s,
		"node;-7;main:f/0;libc.so.6`read;vmlinux`outer;vmlinux`inner 3\n");
}

static void test_sums(void)
{
	struct stacks *s = stacks_new();

	add_stack_of(s, "m:f/0 (m.erl:1)\nm:g/0 (m.erl:9)\n", 2);
	add_stack_of(s, "m:f/0 (m.erl:2)\nm:g/0 (m.erl:9)\n", 3);
	add_stack_of(s, "m:f/0 (m.erl:1)\nm:g/0 (m.erl:9)\n", 4);
	add_stack_of(s, "m:g/0 (m.erl:9)\n", 1);
	add_stack_of(s, "m:h/0\n", 0);
	CHECK(s->nstacks == 4, "%zu", s->nstacks);
	is_folded("lines of a function are added", s, "m:g/0 1\nm:g/0;m:f/0 9\n");

	s = stacks_new();
	for (int i = 0; i < 100000; i++) {
		char text[64];

		snprintf(text, sizeof(text), "m:f%d/0\nm:g%d/0\n", i % 5000, i % 7);
		add_stack_of(s, text, 1);
	}
	stacks_finish(s);
	CHECK(s->nstacks == 35000 && s->profiles[0].total == 100000 && s->nframes == 5007, "%zu %u",
		s->nstacks, s->nframes);
	stacks_free(s);

	s = stacks_new();
	add_stack_of(s, "m:f/0\n", INT64_MAX);
	add_stack_of(s, "m:f/0\n", 5);
	is_folded("no number turns over", s, "m:f/0 9223372036854775807\n");
}

static void test_odd_texts(void)
{
	struct stacks *s = stacks_new();
	erltrace_value_t keys[2];

	keys[0] = (erltrace_value_t){
		.kind = ERLTRACE_STRING, .bytes = "a;b\n\t\x01\xff\xc3\xa9 \"\\", .len = 12};
	keys[1] = stack_key("'x;y':f/0\n", 0);
	add(s, "_", "count", 1, keys, 2);
	keys[0] = (erltrace_value_t){.kind = ERLTRACE_STRING, .bytes = "", .len = 0};
	add(s, "_", "count", 2, keys, 2);
	is_folded("odd characters", s,
		"\"\";'x:y':f/0 2\na:b   \xef\xbf\xbd\xc3\xa9 \"\\;'x:y':f/0 1\n");

	s = stacks_new();
	add_stack_of(s, "", 4);
	add_stack_of(s, "0x0\n", 1);
	is_folded("no frames", s, "(no stack) 5\n");
}

static void test_negative(void)
{
	struct stacks *s = stacks_new();
	erltrace_value_t key = stack_key("m:f/0\n", 0), other = stack_key("m:g/0\n", 0);

	add(s, "x", "sum", -3, &key, 1);
	add(s, "x", "sum", 3, &other, 1);
	stacks_finish(s);
	CHECK(s->nstacks == 1 && s->profiles[0].negative == 1 && s->profiles[0].total == 3);
	CHECK(!s->profiles[0].counts);
	stacks_free(s);
}

static void test_speedscope(void)
{
	static const char wanted[] =
		"{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
		"\"exporter\":\"erltrace " ERLTRACE_VERSION "\",\"name\":\"erltrace: a title\","
		"\"activeProfileIndex\":0,\n\"shared\":{\"frames\":[\n"
		"{\"name\":\"k\\\"\\\\\"},\n{\"name\":\"m:f/"
		"0\",\"file\":\"m.erl\"}]},\n\"profiles\":[\n"
		"{\"type\":\"sampled\",\"name\":\"@, count\",\"unit\":\"none\",\"startValue\":0,"
		"\"endValue\":2,\"samples\":[\n[0,1]],\n\"weights\":[2]},\n"
		"{\"type\":\"sampled\",\"name\":\"@ns, sum\",\"unit\":\"none\",\"startValue\":0,"
		"\"endValue\":70,\"samples\":[\n[0,1]],\n\"weights\":[70]}]}\n";
	struct stacks *s = stacks_new();
	const erltrace_value_t keys[] = {text_key("k\"\\"), stack_key("m:f/0 (m.erl:1)\n", 0)};
	size_t len;
	char *text;

	add(s, "_", "count", 2, keys, 2);
	add(s, "ns", "sum", 70, keys, 2);
	text = written(s, &speedscope_output, &len);
	ok(strcmp(text, wanted) == 0, "speedscope", text);
	free(text);
	stacks_free(s);
}

/* gzip's frame around blocks that are stored; their checksum. */
static void test_gzip(void)
{
	static unsigned char bytes[200000];
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	memset(bytes, 'a', sizeof(bytes));
	put_gzip(f, bytes, sizeof(bytes));
	fclose(f);
	CHECK(len == 10 + 4 * 5 + sizeof(bytes) + 8, "%zu", len);
	CHECK(text[10] == 0 && text[10 + 3 * (5 + 0xffff)] == 1);
	CHECK(crc32_of((const unsigned char *)"123456789", 9) == 0xcbf43926);
	free(text);
	text = NULL;
	f = open_memstream(&text, &len);
	put_gzip(f, bytes, 0);
	fclose(f);
	CHECK(len == 10 + 5 + 8, "%zu", len);
	free(text);
}

static void test_varint(void)
{
	struct message m = {.p = NULL};

	put_varint(&m, 300);
	put_varint(&m, UINT64_MAX);
	CHECK(m.len == 12 && m.p[0] == 0xac && m.p[1] == 2 && m.p[11] == 1);
	free(m.p);
}

int main(void)
{
	test_frames();
	test_order();
	test_sums();
	test_odd_texts();
	test_negative();
	test_speedscope();
	test_gzip();
	test_varint();
	return finish();
}
