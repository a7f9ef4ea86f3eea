/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --pprof: a profile of pprof, the message perftools.profiles.Profile of its profile.proto in
 * gzip's format. Each aggregation is a type of values; one that counts the samples of profile-N has
 * their time as well. The message is put together field by field here. gzip's blocks are stored,
 * not compressed: readers take both, and the command needs no library for it.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "output.h"
#include "stacks.h"

/* ---- protocol buffers ------------------------------------------------------------------- */

struct message {
	unsigned char *p;
	size_t len, room;
	bool nomem;
};

static void put_bytes(struct message *m, const void *bytes, size_t len)
{
	if (m->nomem || !ARRAY_RESERVE(m->p, m->room, m->len + len)) {
		m->nomem = true;
		return;
	}
	if (len > 0)
		memcpy(m->p + m->len, bytes, len);
	m->len += len;
}

static void put_varint(struct message *m, uint64_t v)
{
	unsigned char bytes[10];
	size_t n = 0;

	do {
		bytes[n] = (unsigned char)(v & 0x7f);
		v >>= 7;
		bytes[n] |= v != 0 ? 0x80 : 0;
		n++;
	} while (v != 0);
	put_bytes(m, bytes, n);
}

enum { VARINT = 0, BYTES = 2 };

/* 0 is the default, which is not written. */
static void put_number(struct message *m, unsigned field, uint64_t v)
{
	if (v == 0)
		return;
	put_varint(m, field << 3 | VARINT);
	put_varint(m, v);
}

static void put_field(struct message *m, unsigned field, const void *bytes, size_t len)
{
	put_varint(m, field << 3 | BYTES);
	put_varint(m, len);
	put_bytes(m, bytes, len);
}

/* A message inside of another; it is empty then, to be used again. */
static void put_message(struct message *m, unsigned field, struct message *inner)
{
	m->nomem |= inner->nomem;
	put_field(m, field, inner->p, inner->len);
	inner->len = 0;
}

/* ---- the profile ------------------------------------------------------------------------ */

/* The fields of profile.proto's messages. */
enum { P_SAMPLE_TYPE = 1, P_SAMPLE, P_MAPPING, P_LOCATION, P_FUNCTION, P_STRING_TABLE,
	P_TIME_NANOS = 9, P_DURATION_NANOS, P_PERIOD_TYPE, P_PERIOD, P_COMMENT };
enum { TYPE_TYPE = 1, TYPE_UNIT };
enum { SAMPLE_LOCATION_ID = 1, SAMPLE_VALUE };
enum { MAPPING_ID = 1, MAPPING_FILENAME = 5 };
enum { LOCATION_ID = 1, LOCATION_MAPPING_ID, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION_ID = 1, LINE_LINE };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILENAME };

struct profile {
	const struct stacks *s;
	struct message out;
	struct message part, line; /* of messages that are being made */
	struct message strings;	   /* the table of strings, which goes last */
	uint64_t nstrings;
	uint32_t *order;     /* frames, sorted */
	uint64_t *functions; /* by frame: the number of its function */
	uint64_t *mappings;  /* by frame: that of its program or library; 0: none */
};

/* The number of a new string. */
static uint64_t string(struct profile *p, const char *text)
{
	put_field(&p->strings, P_STRING_TABLE, text, strlen(text));
	return p->nstrings++;
}

static int by_name(const void *x, const void *y, void *arg)
{
	const struct st_frame *f = arg;

	return strcmp(f[*(const uint32_t *)x].name, f[*(const uint32_t *)y].name);
}

static const char *module_of(const struct st_frame *f)
{
	return f->module != NULL ? f->module : "";
}

static int by_module(const void *x, const void *y, void *arg)
{
	const struct st_frame *f = arg;

	return strcmp(module_of(&f[*(const uint32_t *)x]), module_of(&f[*(const uint32_t *)y]));
}

/* Frames of one name are one function; any of them may know its file. */
static void put_functions(struct profile *p)
{
	const struct st_frame *frames = p->s->frames;
	unsigned n = p->s->nframes, next;
	uint64_t id = 0;

	qsort_r(p->order, n, sizeof(*p->order), by_name, (void *)frames);
	for (unsigned i = 0; i < n; i = next) {
		const char *name = frames[p->order[i]].name, *file = NULL;
		uint64_t number = string(p, name);

		id++;
		for (next = i; next < n && strcmp(frames[p->order[next]].name, name) == 0; next++) {
			p->functions[p->order[next]] = id;
			if (file == NULL)
				file = frames[p->order[next]].file;
		}
		put_number(&p->part, FUNCTION_ID, id);
		put_number(&p->part, FUNCTION_NAME, number);
		put_number(&p->part, FUNCTION_SYSTEM_NAME, number);
		if (file != NULL)
			put_number(&p->part, FUNCTION_FILENAME, string(p, file));
		put_message(&p->out, P_FUNCTION, &p->part);
	}
}

static void put_mappings(struct profile *p)
{
	const struct st_frame *frames = p->s->frames;
	unsigned n = p->s->nframes, next;
	uint64_t id = 0;

	qsort_r(p->order, n, sizeof(*p->order), by_module, (void *)frames);
	for (unsigned i = 0; i < n; i = next) {
		const char *module = module_of(&frames[p->order[i]]);

		id += module[0] != '\0';
		for (next = i; next < n && strcmp(module_of(&frames[p->order[next]]), module) == 0;
			next++)
			p->mappings[p->order[next]] = id;
		if (id == 0)
			continue; /* those that are of none come first */
		put_number(&p->part, MAPPING_ID, id);
		put_number(&p->part, MAPPING_FILENAME, string(p, module));
		put_message(&p->out, P_MAPPING, &p->part);
	}
}

/* A frame is a location. Code without a name has an address, and the program's name as function. */
static void put_locations(struct profile *p)
{
	for (unsigned i = 0; i < p->s->nframes; i++) {
		const struct st_frame *f = &p->s->frames[i];

		put_number(&p->part, LOCATION_ID, (uint64_t)i + 1);
		put_number(&p->part, LOCATION_MAPPING_ID, p->mappings[i]);
		put_number(&p->part, LOCATION_ADDRESS, f->address);
		put_number(&p->line, LINE_FUNCTION_ID, p->functions[i]);
		put_number(&p->line, LINE_LINE, f->line);
		put_message(&p->part, LOCATION_LINE, &p->line);
		put_message(&p->out, P_LOCATION, &p->part);
	}
}

static void put_type(struct profile *p, unsigned field, const char *type, const char *unit)
{
	put_number(&p->part, TYPE_TYPE, string(p, type));
	put_number(&p->part, TYPE_UNIT, string(p, unit));
	put_message(&p->out, field, &p->part);
}

static const char *time_type(const struct st_profile *a)
{
	return a->wall ? "wall" : "cpu";
}

static bool has_time(const struct st_profile *a)
{
	return a->counts && a->period > 0;
}

static void put_types(struct profile *p)
{
	const struct stacks *s = p->s;
	bool told = false;

	for (unsigned i = 0; i < s->nprofiles; i++) {
		const struct st_profile *a = &s->profiles[i];
		bool bare = strcmp(a->name, "_") == 0;

		put_type(p, P_SAMPLE_TYPE,
			!bare		  ? a->name
			: !a->counts	  ? "sum"
			: a->period > 0 ? "samples"
					  : "count",
			"count");
		if (!has_time(a))
			continue;
		put_type(p, P_SAMPLE_TYPE, time_type(a), "nanoseconds");
		if (told)
			continue;
		put_type(p, P_PERIOD_TYPE, time_type(a), "nanoseconds");
		put_number(&p->out, P_PERIOD, a->period);
		told = true;
	}
}

/* The values of a stack: stacks that differ by the aggregation alone are neighbours. */
static size_t put_values(struct profile *p, size_t first)
{
	const struct stacks *s = p->s;
	const struct st_stack *st = &s->stacks[first];
	size_t at = first;

	for (unsigned i = 0; i < s->nprofiles; i++) {
		const struct st_profile *a = &s->profiles[i];
		uint64_t value = 0;

		if (at < s->nstacks && s->stacks[at].profile == i &&
			s->stacks[at].nframes == st->nframes &&
			memcmp(s->stacks[at].frames, st->frames,
				st->nframes * sizeof(*st->frames)) == 0)
			value = (uint64_t)s->stacks[at++].value;
		put_varint(&p->line, value);
		if (has_time(a))
			put_varint(&p->line, value * a->period);
	}
	put_message(&p->part, SAMPLE_VALUE, &p->line);
	return at;
}

static void put_samples(struct profile *p)
{
	for (size_t i = 0; i < p->s->nstacks;) {
		const struct st_stack *st = &p->s->stacks[i];

		for (unsigned k = st->nframes; k-- > 0;) /* the innermost first */
			put_varint(&p->line, (uint64_t)st->frames[k] + 1);
		put_message(&p->part, SAMPLE_LOCATION_ID, &p->line);
		i = put_values(p, i);
		put_message(&p->out, P_SAMPLE, &p->part);
	}
}

static void put_profile(struct profile *p, const char *title)
{
	string(p, ""); /* the first must be empty */
	put_types(p);
	put_functions(p);
	put_mappings(p);
	put_locations(p);
	put_samples(p);
	put_number(&p->out, P_TIME_NANOS, p->s->began);
	put_number(&p->out, P_DURATION_NANOS, p->s->ended - p->s->began);
	put_number(&p->out, P_COMMENT, string(p, title));
	put_bytes(&p->out, p->strings.p, p->strings.len);
	p->out.nomem |= p->part.nomem || p->line.nomem || p->strings.nomem;
}

/* ---- gzip ------------------------------------------------------------------------------- */

static uint32_t crc32_of(const unsigned char *p, size_t len)
{
	uint32_t crc = 0xffffffff;

	for (size_t i = 0; i < len; i++) {
		crc ^= p[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
	}
	return ~crc;
}

static void put_little(FILE *f, uint32_t v, int bytes)
{
	for (int i = 0; i < bytes; i++)
		putc((int)(v >> 8 * i & 0xff), f);
}

static void put_gzip(FILE *f, const unsigned char *p, size_t len)
{
	static const unsigned char head[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255};
	size_t at = 0, n;

	fwrite(head, 1, sizeof(head), f);
	do {
		n = len - at < 0xffff ? len - at : 0xffff;
		putc(at + n == len, f); /* the last block? of the kind that is stored */
		put_little(f, (uint32_t)n, 2);
		put_little(f, ~(uint32_t)n, 2);
		fwrite(p + at, 1, n, f);
		at += n;
	} while (at < len);
	put_little(f, crc32_of(p, len), 4);
	put_little(f, (uint32_t)len, 4);
}

static bool write_pprof(const struct output *o, const struct chosen *c, const char *title, FILE *f)
{
	const struct stacks *s = o->stacks;
	struct profile p = {.s = s};
	char comment[300];
	size_t n = s->nframes + 1;
	bool ok;

	(void)c;
	snprintf(comment, sizeof(comment), "erltrace: %s", title);
	p.order = calloc(n, sizeof(*p.order));
	p.functions = calloc(n, sizeof(*p.functions));
	p.mappings = calloc(n, sizeof(*p.mappings));
	ok = p.order != NULL && p.functions != NULL && p.mappings != NULL;
	for (unsigned i = 0; ok && i < s->nframes; i++)
		p.order[i] = i;
	if (ok)
		put_profile(&p, comment);
	ok = ok && !p.out.nomem;
	if (ok)
		put_gzip(f, p.out.p, p.out.len);
	free(p.order);
	free(p.functions);
	free(p.mappings);
	free(p.out.p);
	free(p.part.p);
	free(p.line.p);
	free(p.strings.p);
	return ok;
}

const struct sink pprof_output = {
	.option = "pprof",
	.value = " F",
	.about = "write aggregations by stack as a gzipped pprof profile",
	.traits = OF_STACKS | OF_ALL_STACKS,
	.write = write_pprof,
};
