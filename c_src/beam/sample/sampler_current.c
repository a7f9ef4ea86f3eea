/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What scripts ask of a sample: erlpid, erlname, erlproc, erlsched, erlstate, ustack() (probe
 * path).
 */
#include <stdio.h>
#include <string.h>

#include "beam/code/code_names.h"
#include "beam/handle/beam_handle.h"
#include "beam/term/texts.h"
#include "prog/builtins.h"
#include "prog/stack_marks.h"
#include "sampler_current.h"

static const struct sampler_current *sample_of(const struct en_current *cur)
{
	return (const struct sampler_current *)(const void *)cur;
}

static uint64_t answer_num(
	const struct en_current *cur, unsigned pbi, uint64_t n, const struct fire *f)
{
	(void)n, (void)f;
	return pbi == PBI_ERLSCHED ? sample_of(cur)->sched : 0;
}

static const struct et_str *answer_str(
	const struct en_current *cur, unsigned pbi, uint64_t n, char *buf, size_t size)
{
	const struct sampler_current *s = sample_of(cur);
	size_t len;

	(void)n;
	switch (pbi) {
	case PBI_ERLPID: return s->pid != 0 ? beam_term_text(s->pid) : NULL;
	case PBI_ERLNAME: return s->name != 0 ? beam_term_text(s->name) : NULL;
	case PBI_ERLPROC:
		return s->pid != 0
			       ? beam_proc_name(&s->b->proc_names, beam_tracks(s->b, TRACK_EXITS),
					 s->pid, s->name, buf, size)
			       : NULL;
	case PBI_ERLNODE: return s->b->node_text;
	case PBI_ERLSTATE:
		len = strlen(s->state);
		len = len < size ? len : size - 1;
		memcpy(buf, s->state, len);
		buf[len] = '\0';
		return NULL;
	default: return NULL;
	}
}

static bool process_of(const struct en_current *cur, struct rec_process *p)
{
	const struct sampler_current *s = sample_of(cur);

	*p = (struct rec_process){.id = s->pid, .name = s->name};
	return s->pid != 0;
}

static const struct en_current_ops ops = {
	.num = answer_num, .str = answer_str, .process = process_of};

static unsigned answer_ustack(const struct en_current *cur, uint64_t *pcs, unsigned max, bool lines)
{
	const struct sampler_current *s = sample_of(cur);
	unsigned n = 0;
	bool room = max > 0;

	lines = lines &&
		beam_tracks(s->b, TRACK_LINES); /* another script may have asked for them */
	for (unsigned i = 0; i < s->nframes && room; i++) {
		const uint64_t f = s->frames[i];
		const bool again = i + 1 < s->nframes && stack_is_times(s->frames[i + 1]);

		if (!stack_is_times(f)) /* calls on several lines of a function are one frame */
			room = stack_push(pcs, &n, max, lines ? f : code_frame_function(f),
				again ? s->frames[i + 1] & STACK_TIMES : 1);
	}
	return n;
}

void sampler_current_init(struct sampler_current *s, const struct sampler_thread *t,
	const struct sampler_head *h, const uint64_t *frames)
{
	s->cur = (struct en_current){.key = h->pid != 0 ? h->pid : (uint64_t)t->tid,
		.ustack = answer_ustack,
		.ops = &ops};
	s->b = NULL;
	s->pid = h->pid;
	s->name = h->name;
	s->sched = t->sched;
	s->state = h->state;
	s->pc = h->pc;
	s->nframes = h->nframes;
	s->frames = frames;
}

void sampler_current_wall(
	struct sampler_current *s, ERL_NIF_TERM pid, ERL_NIF_TERM name, const char *state)
{
	s->cur = (struct en_current){.key = pid, .ustack = answer_ustack, .ops = &ops};
	s->b = NULL;
	s->pid = pid;
	s->name = name;
	s->sched = 0;
	s->state = state;
	s->pc = 0;
	s->nframes = 0;
	s->frames = NULL;
}
