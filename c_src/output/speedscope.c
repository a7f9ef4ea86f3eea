/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --speedscope: the file format of speedscope (https://www.speedscope.app/file-format-schema.json).
 * Each aggregation is a sampled profile whose weights are the values. Frames are functions: of an
 * Erlang function the file is given, not the line, which would tell calls from one function apart.
 */
#include "json_write.h"
#include "output.h"
#include "stacks.h"

static void put_frames(FILE *f, const struct stacks *s)
{
	for (unsigned i = 0; i < s->nframes; i++) {
		fputs(i > 0 ? ",\n{\"name\":" : "\n{\"name\":", f);
		jw_fstring(f, s->frames[i].name);
		if (s->frames[i].file != NULL) {
			fputs(",\"file\":", f);
			jw_fstring(f, s->frames[i].file);
		}
		putc('}', f);
	}
}

static void put_stacks(FILE *f, const struct stacks *s, unsigned profile)
{
	bool first = true;

	for (size_t i = 0; i < s->nstacks; i++) {
		const struct st_stack *st = &s->stacks[i];

		if (st->profile != profile)
			continue;
		fputs(first ? "\n[" : ",\n[", f);
		for (unsigned k = 0; k < st->nframes; k++)
			fprintf(f, "%s%u", k > 0 ? "," : "", (unsigned)st->frames[k]);
		putc(']', f);
		first = false;
	}
}

static void put_weights(FILE *f, const struct stacks *s, unsigned profile)
{
	bool first = true;

	for (size_t i = 0; i < s->nstacks; i++) {
		if (s->stacks[i].profile != profile)
			continue;
		fprintf(f, "%s%lld", first ? "" : ",", (long long)s->stacks[i].value);
		first = false;
	}
}

static void put_aggregation(FILE *f, const struct stacks *s, unsigned profile)
{
	const struct st_profile *p = &s->profiles[profile];

	fprintf(f,
		"%s{\"type\":\"sampled\",\"name\":\"@%s, %s\",\"unit\":\"none\",\"startValue\":0,"
		"\"endValue\":%lld,\"samples\":[",
		profile > 0 ? ",\n" : "\n", stacks_shown_name(p), p->counts ? "count" : "sum",
		(long long)p->total);
	put_stacks(f, s, profile);
	fputs("],\n\"weights\":[", f);
	put_weights(f, s, profile);
	fputs("]}", f);
}

static bool write_speedscope(
	const struct output *o, const struct chosen *c, const char *title, FILE *f)
{
	struct stacks *by = stacks_by_function(o->stacks);

	(void)c;
	if (by == NULL)
		return false;
	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n\"exporter\":",
		f);
	fprintf(f, "\"erltrace %s\",\"name\":\"erltrace: ", erltrace_version());
	jw_fchars(f, title);
	fputs("\",\"activeProfileIndex\":0,\n\"shared\":{\"frames\":[", f);
	put_frames(f, by);
	fputs("]},\n\"profiles\":[", f);
	for (unsigned i = 0; i < by->nprofiles; i++)
		put_aggregation(f, by, i);
	fputs("]}\n", f);
	stacks_free(by);
	return true;
}

const struct sink speedscope_output = {
	.option = "speedscope",
	.value = " F",
	.about = "write aggregations by stack for speedscope",
	.traits = OF_STACKS | OF_ALL_STACKS,
	.write = write_speedscope,
};
