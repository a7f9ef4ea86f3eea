/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of events, read and checked. People write such files too: what is not understood is an
 * error with its line, nothing is skipped. Sizes are bounded (events.h), time and memory are linear
 * in the file.
 */
#include "events.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "file.h"
#include "hash.h"
#include "json_read.h"
#include "options.h"
#include "period.h"
#include "prog/builtins.h"
#include "prog/state_kinds.h"

#define MOST_NS (INT64_MAX / 4) /* of any time */

struct chunk {
	struct chunk *next;
	size_t used, size;
	_Alignas(16) char mem[];
};

struct rp_pool {
	struct chunk *chunks;
	struct et_str **texts; /* by hash, a power of two */
	size_t ntexts, size;
	struct rp_probe **probes; /* the same */
	size_t probes_size;
	uint32_t *frames; /* by hash of the text: 1 + index in frames */
	size_t frames_size;
};

struct reading {
	struct rp_file *f;
	struct js js;
	unsigned line;
	const char *begin; /* of the line */
	bool ended;
	struct et_error *e;
};

/* ---- memory --------------------------------------------------------------------------- */

void *rp_alloc(struct rp_file *f, size_t size)
{
	struct chunk *c = f->pool->chunks;

	size = (size + 15) & ~(size_t)15;
	if (c == NULL || c->size - c->used < size) {
		size_t room = size > 64 * 1024 ? size : 64 * 1024;

		c = calloc(1, sizeof(*c) + room);
		if (c == NULL)
			return NULL;
		c->size = room;
		c->next = f->pool->chunks;
		f->pool->chunks = c;
	}
	c->used += size;
	return c->mem + c->used - size;
}

static int no_memory(struct reading *r)
{
	return et_err(r->e, ET_NOMEM, "out of memory for events");
}

/* An error in this line. */
static int wrong(struct reading *r, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static int wrong(struct reading *r, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	et_verr(r->e, ET_REPLAY, fmt, ap);
	va_end(ap);
	snprintf(r->e->file, sizeof(r->e->file), "%s", r->f->path);
	r->e->line = (int)r->line;
	return -1;
}

static char *copy_text(struct reading *r, const char *text, size_t len)
{
	char *copy = rp_alloc(r->f, len + 1);

	if (copy == NULL)
		no_memory(r);
	else
		memcpy(copy, text, len);
	return copy;
}

/* Twice as large when it is half full; hash_of() gives the hash of an entry. */
static bool grow(void ***table, size_t *size, size_t n, uint64_t (*hash_of)(const void *entry))
{
	size_t more = *size == 0 ? 256 : *size * 2;
	void **v;

	if (n * 2 < *size)
		return true;
	v = calloc(more, sizeof(*v));
	if (v == NULL)
		return false;
	for (size_t i = 0; i < *size; i++) {
		size_t at;

		if ((*table)[i] == NULL)
			continue;
		for (at = hash_of((*table)[i]) & (more - 1); v[at] != NULL;
			at = (at + 1) & (more - 1))
			;
		v[at] = (*table)[i];
	}
	free(*table);
	*table = v;
	*size = more;
	return true;
}

static uint64_t text_hash(const void *entry)
{
	return ((const struct et_str *)entry)->hash;
}

struct et_str *rp_text(struct rp_file *f, const char *text, size_t len)
{
	struct rp_pool *p = f->pool;
	uint64_t hash = et_hash(text, len);
	size_t at;

	if (!grow((void ***)&p->texts, &p->size, p->ntexts, text_hash))
		return NULL;
	for (at = hash & (p->size - 1); p->texts[at] != NULL; at = (at + 1) & (p->size - 1))
		if (p->texts[at]->hash == hash && p->texts[at]->len == len &&
			memcmp(p->texts[at]->text, text, len) == 0)
			return p->texts[at];
	p->texts[at] = et_str_new(text, len);
	p->ntexts += p->texts[at] != NULL;
	return p->texts[at];
}

static const struct et_str *intern(struct reading *r, const char *text, size_t len)
{
	const struct et_str *s = rp_text(r->f, text, len);

	if (s == NULL)
		no_memory(r);
	return s;
}

/* ---- probes --------------------------------------------------------------------------- */

static uint64_t probe_hash(const void *entry)
{
	const struct rp_probe *p = entry;

	return hash_bytes(p->prov, strlen(p->prov)) ^ hash_bytes(p->mod, strlen(p->mod)) * 3 ^
	       hash_bytes(p->func, strlen(p->func)) * 5 ^ hash_bytes(p->name, strlen(p->name)) * 7;
}

static bool is_same_probe(const struct rp_probe *a, const struct rp_probe *b)
{
	return strcmp(a->prov, b->prov) == 0 && strcmp(a->mod, b->mod) == 0 &&
	       strcmp(a->func, b->func) == 0 && strcmp(a->name, b->name) == 0;
}

/* "provider:module:function:name"; a function may have colons in its name. */
static bool split(char *text, struct rp_probe *p)
{
	char *mod = strchr(text, ':'), *func = mod != NULL ? strchr(mod + 1, ':') : NULL;
	char *name = strrchr(text, ':');

	if (func == NULL || name == func)
		return false;
	*mod++ = *func++ = *name++ = '\0';
	*p = (struct rp_probe){.prov = text, .mod = mod, .func = func, .name = name};
	return *text != '\0' && *name != '\0';
}

static const struct rp_probe *add_probe(struct reading *r, const struct js_node *v)
{
	struct rp_pool *pool = r->f->pool;
	struct rp_probe p, *made;
	char *copy = copy_text(r, v->text, v->len);
	size_t at;

	if (copy == NULL)
		return NULL;
	if (!split(copy, &p)) {
		wrong(r, "\"probe\" is provider:module:function:name, or END, not \"%.200s\"",
			v->text);
		return NULL;
	}
	if (!grow((void ***)&pool->probes, &pool->probes_size, r->f->nprobes, probe_hash) ||
		!ARRAY_ROOM(r->f->probes, r->f->nprobes)) {
		no_memory(r);
		return NULL;
	}
	for (at = probe_hash(&p) & (pool->probes_size - 1); pool->probes[at] != NULL;
		at = (at + 1) & (pool->probes_size - 1))
		if (is_same_probe(pool->probes[at], &p))
			return pool->probes[at];
	made = rp_alloc(r->f, sizeof(*made));
	if (made == NULL) {
		no_memory(r);
		return NULL;
	}
	*made = p;
	made->line = r->line;
	made->order = (unsigned)r->f->nprobes;
	r->f->probes[r->f->nprobes++] = pool->probes[at] = made;
	return made;
}

/* ---- fields --------------------------------------------------------------------------- */

static struct rp_field *add_field(
	struct reading *r, struct rp_event *ev, enum rp_what what, unsigned n)
{
	struct rp_field *f = &ev->fields[ev->nfields++]; /* there is room for all members */

	(void)r;
	*f = (struct rp_field){.what = (uint8_t)what, .n = (uint8_t)n};
	return f;
}

static int set_value(
	struct reading *r, struct rp_field *f, const struct js_node *v, const char *name)
{
	if (v->kind == JS_TEXT) {
		f->is_text = true;
		f->text = intern(r, v->text, v->len);
		return f->text != NULL ? 0 : -1;
	}
	if (v->kind != JS_NUMBER || !v->whole)
		return wrong(r, "\"%.64s\": a whole number of 64 bits or a text is expected", name);
	f->num = v->num;
	return 0;
}

static int set_term(
	struct reading *r, struct rp_field *f, const struct js_node *v, const char *name)
{
	if (v->kind != JS_TEXT)
		return wrong(
			r, "\"%.64s\": the text of a term is expected, as in \"{ok,1}\"", name);
	f->is_text = true;
	f->term = rp_alloc(r->f, sizeof(*f->term));
	if (f->term == NULL)
		return no_memory(r);
	f->term->text = intern(r, v->text, v->len);
	return f->term->text != NULL ? 0 : -1;
}

/* null: it was not recorded. */
static int read_args(struct reading *r, struct rp_event *ev, const struct js_node *v)
{
	unsigned at = (unsigned)(v - r->js.nodes) + 1;

	if (v->kind != JS_ARRAY || v->n > RP_ARGS)
		return wrong(r, "\"args\" is an array of at most %d numbers and texts", RP_ARGS);
	for (unsigned i = 0; i < v->n; i++, at = r->js.nodes[at].end)
		if (r->js.nodes[at].kind != JS_NULL &&
			set_value(r, add_field(r, ev, RP_ARG, i), &r->js.nodes[at], "args") < 0)
			return -1;
	return 0;
}

/* Terms; null: not recorded, and behind the last one: nor are the others. Or all as one text. */
static int read_erlargs(struct reading *r, struct rp_event *ev, const struct js_node *v)
{
	unsigned at = (unsigned)(v - r->js.nodes) + 1;

	if (v->kind == JS_TEXT)
		return set_term(r, add_field(r, ev, RP_PBI, PBI_ERLARGS), v, "erlargs");
	if (v->kind != JS_ARRAY || v->n > 255)
		return wrong(r, "\"erlargs\" is an array of terms, or a list of Erlang as text");
	ev->nargs = v->n;
	ev->all_args = true;
	for (unsigned i = 0; i < v->n; i++, at = r->js.nodes[at].end) {
		if (r->js.nodes[at].kind != JS_NULL) {
			if (set_term(r, add_field(r, ev, RP_ERLARG, i), &r->js.nodes[at],
				    "erlargs") < 0)
				return -1;
		} else if (i == v->n - 1) {
			ev->all_args = false;
			ev->nargs--;
		}
	}
	return 0;
}

static int read_members(struct reading *r, struct rp_event *ev, const struct js_node *v)
{
	int kind = strcmp(ev->probe->prov, "state") == 0 ? state_kind(ev->probe->name, NULL) : -1;
	unsigned at = (unsigned)(v - r->js.nodes) + 1;
	bool is_text;

	if (v->kind != JS_OBJECT)
		return wrong(r, "\"members\" is an object: what args[0] has");
	for (unsigned i = 0; i < v->n; i++, at = r->js.nodes[at].end) {
		const struct js_node *m = &r->js.nodes[at];
		int n = state_member_index(kind, m->key);
		struct rp_field *f;

		if (n < 0)
			return wrong(r, "%.64s:::%.64s has no member \"%.64s\"", ev->probe->prov,
				ev->probe->name, m->key);
		f = add_field(r, ev, RP_MEMBER, (unsigned)n);
		if (set_value(r, f, m, m->key) < 0)
			return -1;
		is_text = state_member(kind, (unsigned)n)->is_text;
		if (f->is_text != is_text)
			return wrong(r, "\"%.64s\" is a %s", m->key, is_text ? "text" : "number");
	}
	return 0;
}

static uint64_t frame_hash(const struct rp_file *f, uint32_t i)
{
	return f->frames[i - 1]->hash;
}

/* The index of a frame's text. */
static int frame_index(struct reading *r, const struct et_str *s, uint32_t *index)
{
	struct rp_pool *p = r->f->pool;
	size_t at;

	if (r->f->nframes * 2 >= p->frames_size) {
		size_t more = p->frames_size == 0 ? 256 : p->frames_size * 2;
		uint32_t *v = calloc(more, sizeof(*v));

		if (v == NULL)
			return no_memory(r);
		for (uint32_t i = 1; i <= r->f->nframes; i++) {
			for (at = frame_hash(r->f, i) & (more - 1); v[at] != 0;
				at = (at + 1) & (more - 1))
				;
			v[at] = i;
		}
		free(p->frames);
		p->frames = v;
		p->frames_size = more;
	}
	for (at = s->hash & (p->frames_size - 1); p->frames[at] != 0;
		at = (at + 1) & (p->frames_size - 1))
		if (r->f->frames[p->frames[at] - 1] == s) {
			*index = p->frames[at];
			return 0;
		}
	if (!ARRAY_ROOM(r->f->frames, r->f->nframes))
		return no_memory(r);
	r->f->frames[r->f->nframes++] = s;
	*index = p->frames[at] = (uint32_t)r->f->nframes;
	return 0;
}

static int read_stack(struct reading *r, struct rp_event *ev, const struct js_node *v)
{
	unsigned at = (unsigned)(v - r->js.nodes) + 1;
	uint32_t *frames;

	if (v->kind != JS_ARRAY || v->n > 1024)
		return wrong(r, "\"stack\" is an array of at most 1024 frames, as texts");
	frames = rp_alloc(r->f, (v->n + 1) * sizeof(*frames));
	if (frames == NULL)
		return no_memory(r);
	frames[0] = v->n;
	for (unsigned i = 0; i < v->n; i++, at = r->js.nodes[at].end) {
		const struct js_node *t = &r->js.nodes[at];
		const struct et_str *s = t->kind == JS_TEXT ? intern(r, t->text, t->len) : NULL;

		if (t->kind != JS_TEXT)
			return wrong(r, "a frame of a stack is a text");
		if (s == NULL || frame_index(r, s, &frames[i + 1]) < 0)
			return -1;
	}
	add_field(r, ev, RP_STACK, 0)->frames = frames;
	return 0;
}

static const struct {
	const char *name;
	bool is_term, is_text;
	unsigned pbi;
} built_ins[] = {
#define D_PVAR(name, ID, type, traits)                                                            \
	{name, sizeof(type) == sizeof("term_t") && type[0] == 't', type[0] == 's', PBI_##ID},
#define D_PFUNC(name, ID, proto, traits)
#include "prog/builtins.def"
};

static int read_builtin(struct reading *r, struct rp_event *ev, const struct js_node *v)
{
	for (unsigned i = 0; i < sizeof(built_ins) / sizeof(*built_ins); i++) {
		struct rp_field *f;

		if (strcmp(built_ins[i].name, v->key) != 0)
			continue;
		f = add_field(r, ev, RP_PBI, built_ins[i].pbi);
		if (built_ins[i].is_term)
			return set_term(r, f, v, v->key);
		if (set_value(r, f, v, v->key) < 0)
			return -1;
		if (f->is_text != built_ins[i].is_text)
			return wrong(r, "\"%s\" is a %s", v->key,
				built_ins[i].is_text ? "text" : "number");
		if (built_ins[i].pbi == PBI_ERLPID)
			ev->key = f->text->len > 0 ? f->text->id - r->f->first_id + 1 : 0;
		return 0;
	}
	return wrong(r, "an event has no \"%.64s\"", v->key);
}

/* ---- lines ---------------------------------------------------------------------------- */

/* ns, or a text with a unit, as in "10ms". */
static int read_time(struct reading *r, const struct js_node *v, uint64_t *ns)
{
	if (v->kind == JS_NUMBER && v->whole && v->num >= 0 && v->num <= MOST_NS) {
		*ns = (uint64_t)v->num;
		return 0;
	}
	*ns = v->kind == JS_TEXT && v->len > 0 && (v->text[v->len - 1] | 32) >= 'a'
		      ? et_period(v->text)
		      : 0;
	if (*ns != 0 && *ns <= MOST_NS && strstr(v->text, "hz") == NULL)
		return 0;
	return wrong(
		r, "\"%s\": a time is expected: nanoseconds, or a text such as \"10ms\"", v->key);
}

static int read_member(struct reading *r, struct rp_event *ev, const struct js_node *v)
{
	if (strcmp(v->key, "args") == 0)
		return read_args(r, ev, v);
	if (strcmp(v->key, "erlargs") == 0)
		return read_erlargs(r, ev, v);
	if (strcmp(v->key, "members") == 0)
		return read_members(r, ev, v);
	if (strcmp(v->key, "stack") == 0)
		return read_stack(r, ev, v);
	if (strcmp(v->key, "vtimestamp") == 0) {
		uint64_t ns;

		if (read_time(r, v, &ns) < 0)
			return -1;
		add_field(r, ev, RP_VTIMESTAMP, 0)->num = (int64_t)ns;
		return 0;
	}
	return read_builtin(r, ev, v);
}

static int read_end(struct reading *r, const struct js_node *top)
{
	const struct js_node *drops = js_member(&r->js, top, "drops");

	if (drops != NULL && (drops->kind != JS_NUMBER || !drops->whole || drops->num < 0))
		return wrong(r, "\"drops\" is a number");
	if (top->n > 2 + (drops != NULL))
		return wrong(r, "END has \"at\" and \"drops\" only");
	r->f->drops = drops != NULL ? (uint64_t)drops->num : 0;
	r->ended = true;
	return 0;
}

static int read_event(struct reading *r, const struct js_node *top)
{
	const struct js_node *at = js_member(&r->js, top, "at"),
			     *name = js_member(&r->js, top, "probe");
	struct rp_event ev = {.line = r->line, .nargs = UINT32_MAX};
	unsigned i = 1;

	if (at == NULL || name == NULL || name->kind != JS_TEXT)
		return wrong(r, "an event has \"at\", its time, and \"probe\"");
	if (r->ended)
		return wrong(r, "END is the last line");
	if (read_time(r, at, &ev.at) < 0)
		return -1;
	if (ev.at < r->f->end)
		return wrong(
			r, "the event comes before the one in the line above: sort them by \"at\"");
	r->f->end = ev.at;
	if (strcmp(name->text, "END") == 0)
		return read_end(r, top);
	if (r->f->nevents == RP_EVENTS_MOST)
		return wrong(r, "a file has at most %d events", RP_EVENTS_MOST);
	ev.probe = add_probe(r, name);
	ev.fields = rp_alloc(r->f, r->js.n * sizeof(*ev.fields));
	if (ev.probe == NULL)
		return -1;
	if (ev.fields == NULL || !ARRAY_ROOM(r->f->events, r->f->nevents))
		return no_memory(r);
	for (unsigned k = 0; k < top->n; k++, i = r->js.nodes[i].end)
		if (&r->js.nodes[i] != at && &r->js.nodes[i] != name &&
			read_member(r, &ev, &r->js.nodes[i]) < 0)
			return -1;
	r->f->events[r->f->nevents++] = ev;
	return 0;
}

static int read_list(struct reading *r, const struct js_node *v, char ***list, unsigned *n)
{
	unsigned at = (unsigned)(v - r->js.nodes) + 1;

	if (v->kind != JS_ARRAY)
		return wrong(r, "\"%s\" is an array of texts", v->key);
	*list = rp_alloc(r->f, (v->n + 1) * sizeof(**list));
	if (*list == NULL)
		return no_memory(r);
	for (*n = 0; *n < v->n; ++*n, at = r->js.nodes[at].end) {
		if (r->js.nodes[at].kind != JS_TEXT)
			return wrong(r, "\"%s\" is an array of texts", v->key);
		(*list)[*n] = copy_text(r, r->js.nodes[at].text, r->js.nodes[at].len);
		if ((*list)[*n] == NULL)
			return -1;
	}
	return 0;
}

/* The file may be of somebody else, and so is no more than a script: it runs no program of its choice. */
static int read_options(struct reading *r, const struct js_node *v)
{
	struct rp_file *f = r->f;

	if (read_list(r, v, &f->options, &f->noptions) < 0)
		return -1;
	for (unsigned i = 0; i < f->noptions; i++)
		if (et_opt_is_users(f->options[i]))
			return wrong(r, "\"options\": %.64s can be set by the user, not by a file",
				f->options[i]);
	return 0;
}

static int head_member(struct reading *r, const struct js_node *v)
{
	struct rp_file *f = r->f;

	if (strcmp(v->key, "version") == 0)
		return v->kind == JS_NUMBER && v->num == 1
			       ? 0
			       : wrong(r, "this file is of another version of erltrace: "
					  "\"version\" is not 1");
	if (strcmp(v->key, "args") == 0)
		return read_list(r, v, &f->args, &f->nargs);
	if (strcmp(v->key, "options") == 0)
		return read_options(r, v);
	if (strcmp(v->key, "timestamp") == 0)
		return read_time(r, v, &f->start);
	if (strcmp(v->key, "walltimestamp") == 0)
		return read_time(r, v, &f->wall);
	if (strcmp(v->key, "pid") == 0) {
		f->pid = v->num;
		return v->kind == JS_NUMBER && v->whole && v->num > 0 && v->num <= INT32_MAX
			       ? 0
			       : wrong(r, "\"pid\" is the number of a process");
	}
	if (v->kind != JS_TEXT)
		return wrong(r, "\"%.64s\": a text is expected", v->key);
	if (strcmp(v->key, "erltrace") == 0)
		return strcmp(v->text, "events") == 0 ? 0 : wrong(r, "this is no file of events");
	if (strcmp(v->key, "script") == 0)
		return (f->script = copy_text(r, v->text, v->len)) != NULL ? 0 : -1;
	if (strcmp(v->key, "node") == 0)
		return (f->node = intern(r, v->text, v->len)) != NULL ? 0 : -1;
	return wrong(r, "the first line has no \"%.64s\"", v->key);
}

static int read_head(struct reading *r, const struct js_node *top)
{
	unsigned i = 1;

	if (js_member(&r->js, top, "erltrace") == NULL || js_member(&r->js, top, "version") == NULL)
		return wrong(r,
			"this is no file of events: its first line has \"erltrace\":\"events\" and "
			"\"version\":1");
	for (unsigned k = 0; k < top->n; k++, i = r->js.nodes[i].end)
		if (head_member(r, &r->js.nodes[i]) < 0)
			return -1;
	return 0;
}

static int read_line(struct reading *r, char *line, size_t len, bool *head)
{
	if (len > RP_LINE_MOST)
		return wrong(r, "a line has at most %d bytes", RP_LINE_MOST);
	if (strspn(line, " \t\r") >= len || line[strspn(line, " \t")] == '#')
		return 0; /* blank, or a remark */
	if (js_read(&r->js, line, len) < 0) {
		wrong(r, "%s", r->js.what);
		r->e->column = (int)r->js.at + 1;
		return -1;
	}
	if (r->js.nodes[0].kind != JS_OBJECT)
		return wrong(r, "a line is an object of JSON");
	if (*head) {
		*head = false;
		return read_head(r, &r->js.nodes[0]);
	}
	return read_event(r, &r->js.nodes[0]);
}

static int read_lines(struct reading *r, char *text, size_t len)
{
	char *end = text + len;
	bool head = true;

	for (char *line = text; line < end; r->line++) {
		char *nl = memchr(line, '\n', (size_t)(end - line));
		size_t n = (size_t)((nl != NULL ? nl : end) - line);

		line[n] = '\0'; /* there is one behind the end, too */
		if (read_line(r, line, n, &head) < 0)
			return -1;
		line += n + 1;
	}
	if (head) {
		r->line = 1;
		return wrong(r, "this is no file of events: it is empty");
	}
	return 0;
}

struct rp_file *rp_file_parse(const char *path, char *text, size_t len, struct et_error *e)
{
	struct rp_file *f = calloc(1, sizeof(*f));
	struct reading r = {.f = f, .line = 1, .e = e};
	int rc = -1;

	if (f != NULL) {
		f->pool = calloc(1, sizeof(*f->pool));
		f->path = strdup(path);
		f->pid = 1;
		f->start = 1000000000; /* where the file does not say it: a second of uptime */
		f->wall = 1577836800 * 1000000000ULL; /* ... 2020 */
	}
	if (f == NULL || f->pool == NULL || f->path == NULL ||
		(f->node = intern(&r, "nonode@nohost", 13)) == NULL)
		no_memory(&r);
	else {
		f->first_id = f->node->id;
		rc = read_lines(&r, text, len);
	}
	js_free(&r.js);
	if (rc == 0)
		return f;
	rp_file_free(f);
	return NULL;
}

struct rp_file *rp_file_read(const char *path, struct et_error *e)
{
	size_t len;
	char *text = file_read(path, RP_FILE_MOST, &len);
	struct rp_file *f;

	if (text == NULL) {
		et_err(e, ET_REPLAY, "cannot read the events of %s: %s", path, strerror(errno));
		return NULL;
	}
	f = rp_file_parse(path, text, len, e);
	free(text);
	return f;
}

void rp_file_free(struct rp_file *f)
{
	if (f == NULL)
		return;
	if (f->pool != NULL) {
		for (struct chunk *c = f->pool->chunks, *next; c != NULL; c = next) {
			next = c->next;
			free(c);
		}
		for (size_t i = 0; i < f->pool->size; i++)
			et_str_free(f->pool->texts[i]);
		free(f->pool->texts);
		free(f->pool->probes);
		free(f->pool->frames);
	}
	free(f->pool);
	free(f->path);
	free(f->events);
	free(f->probes);
	free(f->frames);
	free(f);
}

const struct rp_field *rp_field(const struct rp_event *ev, enum rp_what what, unsigned n)
{
	for (unsigned i = 0; i < ev->nfields; i++)
		if (ev->fields[i].what == what && ev->fields[i].n == n)
			return &ev->fields[i];
	return NULL;
}
