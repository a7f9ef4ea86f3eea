/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader of BTF, and the types that D makes of it: on files made here, of which each number is
 * known; on the same with what no compiler writes; on broken ones, cut off at each byte and with
 * bytes changed, which may give any answer but a crash. And on this machine's kernel, where it has
 * BTF: facts that all kernels share.
 */
#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "btf/btf.h"
#include "d/d.h"
#include "engine/engine.h"
#include "engine/provider.h"
#include "checks.h"
#include "erltrace.h"

static char folder[] = "/tmp/btf_test.XXXXXX";

/* ---- making files ---------------------------------------------------------------------- */

static struct {
	uint32_t words[4096];
	unsigned nwords, ntypes;
	char names[8192];
	unsigned nnames;
	uint32_t first_name; /* a module's names follow those of vmlinux */
} m;

static void start(uint32_t first_name)
{
	memset(&m, 0, sizeof(m));
	m.nnames = 1;
	m.first_name = first_name;
}

static uint32_t name(const char *s)
{
	uint32_t at = m.nnames;

	if (*s == '\0')
		return 0;
	strcpy(m.names + at, s);
	m.nnames += (unsigned)strlen(s) + 1;
	return m.first_name + at;
}

static void word(uint32_t w)
{
	m.words[m.nwords++] = w;
}

/* The number of the type, in a file that continues none. */
static unsigned type(const char *s, unsigned kind, unsigned n, bool flag, uint32_t size_or_type)
{
	word(name(s));
	word(n | kind << 24 | (uint32_t)flag << 31);
	word(size_or_type);
	return ++m.ntypes;
}

static unsigned integer(const char *s, unsigned bytes, unsigned bits, unsigned how)
{
	unsigned id = type(s, BTF_KIND_INT, 0, false, bytes);

	word(how << 24 | bits);
	return id;
}

static void member(const char *s, uint32_t of, uint32_t where)
{
	word(name(s));
	word(of);
	word(where);
}

static void array(uint32_t of, uint32_t index, uint32_t n)
{
	type("", BTF_KIND_ARRAY, 0, false, 0);
	word(of);
	word(index);
	word(n);
}

static size_t bytes(char *to)
{
	struct btf_header h = {.magic = BTF_MAGIC, .version = 1, .hdr_len = sizeof(h)};

	h.type_len = 4 * m.nwords;
	h.str_off = h.type_len;
	h.str_len = m.nnames;
	memcpy(to, &h, sizeof(h));
	memcpy(to + sizeof(h), m.words, h.type_len);
	memcpy(to + sizeof(h) + h.type_len, m.names, m.nnames);
	return sizeof(h) + h.type_len + m.nnames;
}

static void write_file(const char *as, const char *data, size_t n)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, as);
	f = fopen(path, "w");
	if (f == NULL || fwrite(data, 1, n, f) != n)
		exit(1);
	fclose(f);
}

enum { INT = 1, CHAR, ULONG, WIDE, NODE, PNODE, TEXT, OPEN, COLOR, BYTE, UNION_, OUTER, BYTES };

/*
 * struct node { struct node *next; char text[8]; int a : 3, b : 30, c : 24; union { int x; char y;
 * }; enum color color; __int128 wide; byte_t last[]; }
 */
static void make_vmlinux(void)
{
	start(0);
	integer("int", 4, 32, BTF_INT_SIGNED);
	integer("char", 1, 8, BTF_INT_SIGNED);
	integer("long unsigned int", 8, 64, 0);
	integer("__int128", 16, 128, BTF_INT_SIGNED);
	type("node", BTF_KIND_STRUCT, 9, true, 64);
	member("next", PNODE, 0);
	member("text", TEXT, 64);
	member("a", INT, 3u << 24 | 128);
	member("b", INT, 30u << 24 | 131); /* across a boundary, as in a packed structure */
	member("c", INT, 24u << 24 | 168);
	member("", UNION_, 224);
	member("color", COLOR, 256);
	member("wide", WIDE, 320);
	member("last", BYTES, 448);
	type("", BTF_KIND_PTR, 0, false, NODE);
	array(CHAR, INT, 8);
	array(CHAR, INT, 0);
	type("color", BTF_KIND_ENUM, 2, true, 4);
	word(name("RED"));
	word((uint32_t)-1);
	word(name("GREEN"));
	word(7);
	type("byte_t", BTF_KIND_TYPEDEF, 0, false, CHAR);
	type("", BTF_KIND_UNION, 2, true, 4);
	member("x", INT, 0);
	member("y", CHAR, 0);
	type("outer", BTF_KIND_STRUCT, 2, true, 72);
	member("first", ULONG, 0);
	member("in", NODE, 64);
	array(BYTE, INT, 0);
}

/* ---- compiling against them ------------------------------------------------------------ */

/* "" or the tag of the error. */
static const char *compiled(const char *script)
{
	static char tag[64];
	erltrace_error_t err = {0};
	erltrace_t *h = erltrace_open(NULL);

	tag[0] = '\0';
	if (h == NULL || erltrace_compile(h, script, NULL, &err) < 0)
		snprintf(tag, sizeof(tag), "%s", err.tag);
	erltrace_close(h);
	return tag;
}

static const struct {
	const char *expr; /* is to be a constant: 1 */
} sizes[] = {
	{"sizeof(struct node) == 64"},
	{"sizeof(struct outer) == 72"},
	{"offsetof(struct node, text) == 8"},
	{"offsetof(struct node, x) == 28"}, /* of a member without a name */
	{"offsetof(struct node, y) == 28"},
	{"offsetof(struct outer, in) == 8"},
	{"sizeof(((struct node *)0)->text) == 8"},
	{"sizeof(((struct outer *)0)->in.text) == 8"},
	{"sizeof(byte_t) == 1"},
	{"sizeof(enum color) == 4"},
	{"GREEN == 7"},
	{"RED == -1"},
	{"sizeof(((struct node *)0)->color) == 4"},
};

static const struct {
	const char *script, *tag;
} scripts[] = {
	{"BEGIN { trace(((struct node *)arg0)->next->next->text[3]); }", ""},
	{"BEGIN { trace(((struct node *)arg0)->a); }", ""},
	{"BEGIN { trace(((struct node *)arg0)->c); }", ""},
	{"BEGIN { trace(((struct node *)arg0)->b); }", "D_TYPE_MEMBER"},
	{"BEGIN { trace(((struct node *)arg0)->last[2]); }", ""},
	{"BEGIN { trace(stringof(((struct node *)arg0)->text)); }", ""},
	{"BEGIN { print(*(struct node *)arg0); }", ""},
	{"BEGIN { this->p = (byte_t *)arg0; trace(*this->p); }", ""},
	{"byte_t x; self byte_t y; BEGIN { x = 1; self->y = 2; }", ""},
	{"struct node *p; BEGIN { p = 0; trace(p->text); }", ""},
	{"BEGIN { trace(((struct node *)arg0)->wide); }", "D_TYPE_MEMBER"},
	{"BEGIN { trace(((struct node *)arg0)->none); }", "D_TYPE_MEMBER"},
	{"BEGIN { trace(((struct none *)arg0)->next); }", "D_OP_INCOMPLETE"},
	{"BEGIN { trace((none_t *)arg0); }", "D_SYNTAX"},
	/* a script's own definitions count */
	{"struct node { int mine; }; BEGIN { trace(((struct node *)arg0)->mine); }", ""},
	{"struct node { int mine; }; BEGIN { trace(((struct outer *)arg0)->in.text); }", ""},
	{"typedef int byte_t; int s[sizeof(byte_t) == 4 ? 1 : -1]; BEGIN { }", ""},
	{"enum mine { GREEN = 3 }; int s[GREEN == 3 ? 1 : -1]; BEGIN { }", ""},
};

/* The error of a script that is compiled for a node. */
static void inside_a_node(void)
{
	const char script[] = "BEGIN { trace(((struct node *)arg0)->a); }";
	struct et_error e = {.tag = ""};
	struct et_options opts;
	struct d_registry reg;
	struct d_comp *c;
	struct en *en;
	unsigned first;

	et_options_init(&opts);
	opts.inside = true;
	en = en_new(&opts, &e);
	en_registry(en, &reg);
	c = d_comp_new(&opts, &reg, &e);
	CHECK(c != NULL && d_compile(c, script, strlen(script), "", 0, NULL, 0, &first, &e) < 0);
	ok(strstr(e.text, "not known inside a node") != NULL, "inside a node", e.text);
	d_comp_free(c);
	en_free(en);
	et_options_free(&opts);
}

static void types_in_d(void)
{
	char script[256];

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		snprintf(script, sizeof(script), "int s[(%s) ? 1 : -1]; BEGIN { s[0] = 1; }",
			sizes[i].expr);
		ok(strcmp(compiled(script), "") == 0, sizes[i].expr, compiled(script));
	}
	for (size_t i = 0; i < sizeof(scripts) / sizeof(*scripts); i++)
		ok(strcmp(compiled(scripts[i].script), scripts[i].tag) == 0, scripts[i].script,
			compiled(scripts[i].script));
}

/* ---- the reader ------------------------------------------------------------------------ */

static struct btf *open_here(void)
{
	struct et_error e = {.tag = ""};

	return btf_open_folder(folder, &e);
}

static void reads(void)
{
	struct btf *b = open_here();
	struct btf_view v;
	struct btf_item item;
	struct btf_at at;
	char text[64];

	if (!CHECK(b != NULL))
		return;
	CHECK(btf_offset(b, "node", "text") == 8);
	CHECK(btf_offset(b, "outer", "in.text") == 16);
	CHECK(btf_offset(b, "outer", "in.y") == 36, "through a union without a name");
	CHECK(btf_offset(b, "outer", "in.none") == BTF_NOWHERE);
	CHECK(btf_offset(b, "none", "x") == BTF_NOWHERE);
	CHECK(btf_find(b, NULL, "node", BTF_A(BTF_KIND_STRUCT), &at) && at.id == NODE);
	CHECK(btf_view(at, &v) && v.size == 64 && v.n == 9);
	CHECK(btf_item(at, 2, &item) && item.bits == 3 && item.bit_off == 128);
	CHECK(!btf_item(at, 9, &item));
	CHECK(!btf_find(b, NULL, "node", BTF_A(BTF_KIND_UNION), &at));
	CHECK(!btf_find(b, NULL, "", ~0u, &at));
	at = (struct btf_at){btf_file_at(b, 0), PNODE};
	CHECK(strcmp(btf_text(at, text, sizeof(text)), "struct node *") == 0, "%s", text);
	at.id = 9999;
	CHECK(!btf_view(at, &v) && btf_size(at) == 0);
	btf_close(b);
}

/* A module's types go on where those of vmlinux end, and may be of those. */
static void modules(void)
{
	unsigned base = m.ntypes, names = m.nnames;
	struct btf_at at, in;
	struct btf_view v;
	static char data[32768];
	struct btf *b;

	start(names);
	type("extra", BTF_KIND_STRUCT, 1, true, 8);
	member("node", PNODE, 0);
	type("", BTF_KIND_PTR, 0, false, base + 1);
	write_file("a-module", data, bytes(data));
	write_file("broken", data, 20);
	b = open_here();
	CHECK(b != NULL && btf_nfiles(b) == 3);
	CHECK(btf_find(b, NULL, "extra", BTF_A(BTF_KIND_STRUCT), &at));
	CHECK(btf_find(b, "a_module", "extra", BTF_A(BTF_KIND_STRUCT), &at));
	CHECK(!btf_find(b, "vmlinux", "extra", BTF_A(BTF_KIND_STRUCT), &at));
	CHECK(btf_view(at, &v) && v.size == 8 && strcmp(v.name, "extra") == 0);
	in = (struct btf_at){at.file, at.id + 1};
	CHECK(btf_view(in, &v) && btf_same(v.ref, at), "a pointer to a type of the module's own");
	CHECK(btf_file_at(b, 2) == NULL, "a broken file of a module is left out");
	btf_close(b);
	ok(strcmp(compiled("BEGIN { trace(((struct extra *)arg0)->node->next); }"), "") == 0,
		"a struct of a module", "it is not found");
}

/* ---- what no compiler writes ----------------------------------------------------------- */

static const char *const any[] = {
	"BEGIN { print(*(struct node *)arg0); }",
	"BEGIN { print(*(struct outer *)arg0); }",
	"BEGIN { trace(((struct node *)arg0)->next->next->text); trace(sizeof(byte_t)); }",
	"BEGIN { trace(((struct node *)arg0)->b + ((struct node *)arg0)->color + GREEN); }",
};

static void survives(const char *data, size_t n)
{
	static unsigned round;
	struct btf *b;

	write_file("vmlinux", data, n);
	b = open_here();
	if (b != NULL)
		for (uint32_t id = 0; id < 40; id++) {
			struct btf_at at = {btf_file_at(b, 0), id};
			struct btf_item item;
			char text[64];

			for (unsigned i = 0; i < 64 && btf_item(at, i, &item); i++)
				btf_size(item.type);
			btf_text(at, text, sizeof(text));
			btf_offset(b, "outer", "in.text");
		}
	btf_close(b);
	round++;
	compiled(any[round % 4]);
}

static void broken(void)
{
	static char good[32768], bad[32768];
	uint32_t seed = 12345;
	size_t n;

	make_vmlinux();
	n = bytes(good);
	for (size_t i = 0; i < n; i++)
		survives(good, i);
	for (unsigned round = 0; round < 1500; round++) {
		memcpy(bad, good, n);
		for (unsigned k = 0; k <= round % 3; k++) {
			seed = seed * 1664525 + 1013904223;
			bad[(seed >> 8) % n] = (char)(seed >> 24);
		}
		survives(bad, n);
	}
	ok(true, "a broken file is no crash", NULL);
}

/* Structures that contain themselves, typedefs in a circle, very many of each other. */
static void circles(void)
{
	static char data[32768];

	start(0);
	type("node", BTF_KIND_STRUCT, 3, true, 8);
	member("a", 1, 0);
	member("b", 2, 0);
	member("c", 3, 0);
	type("outer", BTF_KIND_STRUCT, 2, true, 8);
	member("in", 1, 0);
	member("on", 2, 0);
	type("byte_t", BTF_KIND_TYPEDEF, 0, false, 4);
	type("round", BTF_KIND_TYPEDEF, 0, false, 3);
	type("", BTF_KIND_PTR, 0, false, 5);
	survives(data, bytes(data));
	for (unsigned i = 0; i < 4; i++)
		compiled(any[i]);
	CHECK(strcmp(compiled("BEGIN { trace((byte_t *)arg0); }"), "D_SYNTAX") == 0);
	CHECK(strcmp(compiled("BEGIN { trace(((struct node *)arg0)->a); }"), "D_TYPE_MEMBER") == 0);
}

/* ---- this machine ---------------------------------------------------------------------- */

static void running(void)
{
	struct et_error e = {.tag = ""};
	struct btf *b;

	btf_folder(NULL);
	b = btf_open(&e);
	if (b == NULL) {
		printf("skipped: %s\n", e.text);
		return;
	}
	CHECK(btf_offset(b, "list_head", "next") == 0);
	CHECK(btf_offset(b, "list_head", "prev") == 8);
	CHECK(btf_offset(b, "iovec", "iov_len") == 8);
	CHECK(btf_offset(b, "task_struct", "comm") != BTF_NOWHERE);
	CHECK(btf_offset(b, "task_struct", "se.sum_exec_runtime") != BTF_NOWHERE);
	btf_close(b);
	ok(strcmp(compiled("int s[sizeof(struct list_head) == 16 ? 1 : -1]; BEGIN { s[0] = 1; }"),
		   "") == 0,
		"types of the running kernel", "are not there");
}

int main(void)
{
	static char data[32768];

	if (mkdtemp(folder) == NULL)
		return 1;
	btf_folder(folder);
	make_vmlinux();
	write_file("vmlinux", data, bytes(data));
	reads();
	types_in_d();
	inside_a_node();
	modules();
	write_file("vmlinux", "no BTF", 6);
	CHECK(open_here() == NULL);
	CHECK(strcmp(compiled("BEGIN { trace(((struct node *)arg0)->a); }"), "D_OP_INCOMPLETE") ==
		0);
	circles();
	broken();
	running();
	snprintf(data, sizeof(data), "rm -rf %s", folder);
	return system(data) == 0 ? finish() : 1;
}
