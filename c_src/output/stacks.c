/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks are added up here. Frames and stacks are numbered in the order in which they first come; a
 * hash table each finds them again.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "stacks.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "array.h"
#include "frame_text.h"
#include "hash.h"
#include "utf8.h"

static uint64_t wall_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

struct stacks *stacks_new(void)
{
	struct stacks *s = calloc(1, sizeof(*s));

	if (s != NULL)
		s->began = s->ended = wall_ns();
	return s;
}

void stacks_free(struct stacks *s)
{
	if (s == NULL)
		return;
	for (unsigned i = 0; i < s->nframes; i++) {
		free(s->frames[i].text);
		free(s->frames[i].name);
		free(s->frames[i].file);
		free(s->frames[i].module);
	}
	for (unsigned i = 0; i < s->nprofiles; i++)
		free(s->profiles[i].name);
	for (size_t i = 0; i < s->nstacks; i++)
		free(s->stacks[i].frames);
	free(s->frames);
	free(s->profiles);
	free(s->stacks);
	free(s->frame_slots);
	free(s->stack_slots);
	free(s->path);
	free(s);
}

/* ---- hash tables ------------------------------------------------------------------------ */

/*
 * The slot where n is, as `same` says, or where it belongs; at most half of the slots are in use.
 */
typedef bool same_fn(const struct stacks *s, uint32_t number, uint64_t hash, const void *what);

static uint32_t *find_slot(const struct stacks *s, uint32_t *slots, size_t n, uint64_t hash,
	same_fn *same, const void *what)
{
	size_t i = hash & (n - 1);

	while (slots[i] != 0 && !same(s, slots[i] - 1, hash, what))
		i = (i + 1) & (n - 1);
	return &slots[i];
}

typedef uint64_t hash_fn(const struct stacks *s, uint32_t number);

static bool grow_slots(
	const struct stacks *s, uint32_t **slots, size_t *n, size_t used, hash_fn *hash)
{
	size_t more = *n == 0 ? 1024 : 2 * *n;
	uint32_t *t;

	if (2 * (used + 1) <= *n)
		return true;
	t = calloc(more, sizeof(*t));
	if (t == NULL)
		return false;
	for (size_t i = 0; i < used; i++) {
		size_t at = hash(s, (uint32_t)i) & (more - 1);

		while (t[at] != 0)
			at = (at + 1) & (more - 1);
		t[at] = (uint32_t)i + 1;
	}
	free(*slots);
	*slots = t;
	*n = more;
	return true;
}

/* ---- frames ----------------------------------------------------------------------------- */

/*
 * A copy that can be shown anywhere: what is not UTF-8 becomes U+FFFD, control characters spaces.
 */
static char *clean_copy(const char *text, size_t len)
{
	char *copy = malloc(3 * len + 1), *to = copy;
	size_t n;

	for (size_t i = 0; copy != NULL && i < len; i += n) {
		const unsigned char *p = (const unsigned char *)text + i;

		n = utf8_len(p, len - i);
		if (n > 0 && *p != '\t') {
			memcpy(to, p, n);
			to += n;
		} else if (n > 0 || *p < 0x20 || *p == 0x7f) {
			n = 1;
			*to++ = ' ';
		} else {
			n = 1;
			memcpy(to, UTF8_NONE_BYTES, 3);
			to += 3;
		}
	}
	if (copy != NULL)
		*to = '\0';
	return copy;
}

/* "lists:seq/2 (lists.erl:12)", "libc.so.6`read+0x10", "beam.smp+0x1c0aa": c_src/frame_text.h */
static void split_frame(struct st_frame *f)
{
	size_t len = strlen(f->text), n;
	struct frame_text parts;

	frame_text_split(f->text, len, &parts);
	n = frame_text_function(f->text, len, NULL, 0);
	f->name = malloc(n + 1);
	if (f->name != NULL)
		frame_text_function(f->text, len, f->name, n + 1);
	if (parts.file != NULL)
		f->file = strndup(parts.file, parts.file_len);
	if (parts.module > 0)
		f->module = strndup(f->text, parts.module);
	f->line = parts.line;
	f->address = parts.address;
}

struct frame_key {
	const char *text;
	size_t len;
	bool is_key;
};

static uint64_t hash_frame(const char *text, size_t len, bool is_key)
{
	return hash_bytes(text, len) ^ is_key;
}

static bool same_frame(const struct stacks *s, uint32_t number, uint64_t hash, const void *what)
{
	const struct st_frame *f = &s->frames[number];
	const struct frame_key *k = what;

	(void)hash;
	return f->is_key == k->is_key && strlen(f->text) == k->len &&
	       memcmp(f->text, k->text, k->len) == 0;
}

static uint64_t frame_hash(const struct stacks *s, uint32_t number)
{
	const struct st_frame *f = &s->frames[number];

	return hash_frame(f->text, strlen(f->text), f->is_key);
}

/* A new frame; its text becomes the frame's. */
static bool new_frame(struct stacks *s, char *text, bool is_key)
{
	struct st_frame f = {.text = text, .is_key = is_key};

	if (is_key)
		f.name = strdup(text[0] != '\0' ? text : "\"\"");
	else
		split_frame(&f);
	if (f.name == NULL || !ARRAY_ROOM(s->frames, s->nframes)) {
		free(f.name);
		free(f.file);
		free(f.module);
		return false;
	}
	s->frames[s->nframes++] = f;
	return true;
}

/* The frame is the next one of the path. */
static void push_frame(struct stacks *s, const char *text, size_t len, bool is_key)
{
	char *copy = clean_copy(text, len);
	struct frame_key k = {.text = copy, .is_key = is_key};
	uint32_t *slot;
	uint64_t hash;

	if (copy == NULL || !ARRAY_RESERVE(s->path, s->path_room, s->npath + 1) ||
		!grow_slots(s, &s->frame_slots, &s->nframe_slots, s->nframes, frame_hash)) {
		free(copy);
		s->nomem = true;
		return;
	}
	k.len = strlen(copy);
	hash = hash_frame(copy, k.len, is_key);
	slot = find_slot(s, s->frame_slots, s->nframe_slots, hash, same_frame, &k);
	if (*slot != 0) {
		free(copy);
	} else if (new_frame(s, copy, is_key)) {
		*slot = s->nframes;
	} else {
		free(copy);
		s->nomem = true;
		return;
	}
	s->path[s->npath++] = *slot - 1;
}

/* The same of the function that a frame is of. */
static void push_function(struct stacks *by, const struct st_frame *f)
{
	struct st_frame *fn;

	push_frame(by, f->name, strlen(f->name), true);
	if (by->nomem || f->file == NULL)
		return;
	fn = &by->frames[by->path[by->npath - 1]];
	if (fn->file == NULL && (fn->file = strdup(f->file)) == NULL)
		by->nomem = true;
}

/* ---- keys ------------------------------------------------------------------------------- */

/* One frame a line, the innermost first. */
static void push_stack(struct stacks *s, const erltrace_value_t *v)
{
	const char *start = v->bytes, *end;
	const char *line;

	for (end = start + v->len; start != NULL && end > start; end = line) {
		size_t len = (size_t)(end - start);

		if (end[-1] == '\n')
			len--;
		line = len > 0 ? memrchr(start, '\n', len) : NULL;
		line = line != NULL ? line + 1 : start;
		if (!frame_text_is_end(line, (size_t)(start + len - line)))
			push_frame(s, line, frame_text_once(line, (size_t)(start + len - line)),
				false);
	}
}

static void push_key(struct stacks *s, const erltrace_value_t *v)
{
	char text[64];

	switch (v->kind) {
	case ERLTRACE_STACK: return;
	case ERLTRACE_INT:
		snprintf(text, sizeof(text), v->is_signed ? "%lld" : "%llu", (long long)v->i);
		break;
	case ERLTRACE_FLOAT: snprintf(text, sizeof(text), "%g", v->f); break;
	case ERLTRACE_BYTES:
		for (size_t i = 0; i < v->len && i < sizeof(text) / 2 - 1; i++)
			snprintf(text + 2 * i, 3, "%02x", ((const unsigned char *)v->bytes)[i]);
		if (v->len == 0)
			text[0] = '\0';
		break;
	default:
		push_frame(s, v->bytes != NULL ? v->bytes : "NULL", v->bytes != NULL ? v->len : 4,
			true);
		return;
	}
	push_frame(s, text, strlen(text), true);
}

/* ---- stacks ----------------------------------------------------------------------------- */

struct stack_key {
	unsigned profile, nframes;
	const uint32_t *frames;
};

static bool same_stack(const struct stacks *s, uint32_t number, uint64_t hash, const void *what)
{
	const struct st_stack *st = &s->stacks[number];
	const struct stack_key *k = what;

	return st->hash == hash && st->profile == k->profile && st->nframes == k->nframes &&
	       memcmp(st->frames, k->frames, k->nframes * sizeof(*k->frames)) == 0;
}

static uint64_t stack_hash(const struct stacks *s, uint32_t number)
{
	return s->stacks[number].hash;
}

static void add_value(int64_t *to, int64_t value)
{
	if (__builtin_add_overflow(*to, value, to))
		*to = value > 0 ? INT64_MAX : INT64_MIN;
}

/* The path with a value. */
static void add_stack(struct stacks *s, unsigned profile, int64_t value)
{
	struct stack_key k = {profile, (unsigned)s->npath, s->path};
	uint64_t hash = hash_bytes((const char *)s->path, s->npath * sizeof(*s->path)) ^ profile;
	struct st_stack st = {
		.profile = profile, .nframes = k.nframes, .value = value, .hash = hash};
	uint32_t *slot;

	if (!grow_slots(s, &s->stack_slots, &s->nstack_slots, s->nstacks, stack_hash)) {
		s->nomem = true;
		return;
	}
	slot = find_slot(s, s->stack_slots, s->nstack_slots, hash, same_stack, &k);
	if (*slot != 0) {
		add_value(&s->stacks[*slot - 1].value, value);
		return;
	}
	st.frames = malloc(s->npath * sizeof(*s->path) + 1);
	if (st.frames == NULL || !ARRAY_ROOM(s->stacks, s->nstacks)) {
		free(st.frames);
		s->nomem = true;
		return;
	}
	memcpy(st.frames, s->path, s->npath * sizeof(*s->path));
	s->stacks[s->nstacks++] = st;
	*slot = (uint32_t)s->nstacks;
}

/* The number of an aggregation, or -1: out of memory. */
static int profile_of(struct stacks *s, const char *name)
{
	struct st_profile p = {.counts = true};

	for (unsigned i = 0; i < s->nprofiles; i++)
		if (strcmp(s->profiles[i].name, name) == 0)
			return (int)i;
	p.name = strdup(name);
	if (p.name == NULL || !ARRAY_ROOM(s->profiles, s->nprofiles)) {
		free(p.name);
		s->nomem = true;
		return -1;
	}
	s->profiles[s->nprofiles++] = p;
	return (int)s->nprofiles - 1;
}

void stacks_sampled(struct stacks *s, const char *name, uint64_t period, bool wall)
{
	int p = profile_of(s, name);

	if (p >= 0) {
		s->profiles[p].period = period;
		s->profiles[p].wall = wall;
	}
}

void stacks_add(struct stacks *s, const erltrace_agg_t *a)
{
	int p = profile_of(s, a->name);

	if (p < 0)
		return;
	s->profiles[p].counts = strcmp(a->function, "count") == 0;
	s->npath = 0;
	for (unsigned i = 0; i < a->nkeys; i++)
		push_key(s, &a->keys[i]);
	for (int kernel = 0; kernel <= 1; kernel++)
		for (unsigned i = 0; i < a->nkeys; i++)
			if (a->keys[i].kind == ERLTRACE_STACK &&
				(a->keys[i].is_kernel != 0) == kernel)
				push_stack(s, &a->keys[i]);
	if (s->npath == 0 && !s->nomem)
		push_frame(s, FRAME_TEXT_NONE, strlen(FRAME_TEXT_NONE), true);
	if (!s->nomem)
		add_stack(s, (unsigned)p, a->value);
}

/* ---- the end ---------------------------------------------------------------------------- */

static int compare(const void *x, const void *y, void *arg)
{
	const struct st_stack *a = x, *b = y;
	const struct stacks *s = arg;
	int c;

	for (unsigned i = 0; i < a->nframes && i < b->nframes; i++) {
		if (a->frames[i] == b->frames[i])
			continue;
		c = strcmp(s->frames[a->frames[i]].text, s->frames[b->frames[i]].text);
		return c != 0 ? c : a->frames[i] < b->frames[i] ? -1 : 1;
	}
	if (a->nframes != b->nframes)
		return a->nframes < b->nframes ? -1 : 1;
	return a->profile < b->profile ? -1 : a->profile > b->profile;
}

struct stacks *stacks_by_function(const struct stacks *s)
{
	struct stacks *by = stacks_new();

	for (unsigned i = 0; by != NULL && i < s->nprofiles; i++) {
		int p = profile_of(by, s->profiles[i].name);

		if (p >= 0)
			by->profiles[p].counts = s->profiles[i].counts;
	}
	for (size_t i = 0; by != NULL && i < s->nstacks && !by->nomem; i++) {
		const struct st_stack *st = &s->stacks[i];

		by->npath = 0;
		for (unsigned k = 0; k < st->nframes && !by->nomem; k++)
			push_function(by, &s->frames[st->frames[k]]);
		if (!by->nomem)
			add_stack(by, st->profile, st->value);
	}
	if (by == NULL || by->nomem) {
		stacks_free(by);
		return NULL;
	}
	stacks_finish(by);
	return by;
}

void stacks_finish(struct stacks *s)
{
	size_t n = 0;

	s->ended = wall_ns();
	for (size_t i = 0; i < s->nstacks; i++) {
		struct st_stack st = s->stacks[i];
		struct st_profile *p = &s->profiles[st.profile];

		if (st.value > 0) {
			add_value(&p->total, st.value);
			s->stacks[n++] = st;
		} else {
			p->negative += st.value < 0;
			free(st.frames);
		}
	}
	s->nstacks = n;
	free(s->stack_slots);
	s->stack_slots = NULL;
	s->nstack_slots = 0;
	if (n > 0)
		qsort_r(s->stacks, n, sizeof(*s->stacks), compare, s);
}
