/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks with values, added up from aggregations by stack. Frames are told apart (stacks.c); the
 * outputs that take them are folded.c, speedscope.c and pprof.c.
 *
 * A stack is a list of frames, the outermost first. Keys of the aggregation that are no stacks come
 * before the frames, then those of ustack(), then those of stack(). Values of equal stacks are
 * added.
 */
#ifndef OUTPUT_STACKS_H
#define OUTPUT_STACKS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "erltrace.h"

/*
 * A frame, or another key. Texts are valid UTF-8 without control characters. Frames of one function
 * have the same name.
 */
struct st_frame {
	char *text;	  /* all of it */
	char *name;	  /* "lists:seq/2", "libc.so.6`read", "[beam.smp]" */
	char *file;	  /* of the source, or NULL */
	char *module;	  /* the program or library that it is of, or NULL */
	uint64_t line;	  /* 0: not known */
	uint64_t address; /* of code whose function is not known; 0: no such */
	bool is_key;	  /* no frame */
};

/* An aggregation. */
struct st_profile {
	char *name;
	bool counts;	    /* count(), otherwise sum() */
	bool wall;	    /* samples of time that passes, otherwise of time on a CPU */
	uint64_t period;    /* ns between samples; 0: it is not a profile-N */
	int64_t total;
	uint64_t negative;  /* stacks whose sum is below 0: left out */
};

struct st_stack {
	unsigned profile;
	unsigned nframes;
	uint32_t *frames;   /* numbers, the outermost first */
	int64_t value;
	uint64_t hash;
};

struct stacks {
	struct st_frame *frames;
	unsigned nframes;
	struct st_profile *profiles;
	unsigned nprofiles;
	struct st_stack *stacks;
	size_t nstacks;
	uint32_t *frame_slots, *stack_slots; /* hash tables: numbers from 1 */
	size_t nframe_slots, nstack_slots;
	uint32_t *path; /* of the stack that is being added */
	size_t npath, path_room;
	bool nomem;
	uint64_t began, ended; /* ns since 1970 */
};

struct stacks *stacks_new(void);
void stacks_free(struct stacks *s);
/* The aggregation counts samples that come every so many ns. */
void stacks_sampled(struct stacks *s, const char *name, uint64_t period, bool wall);
/* Add what an aggregation has at a key. */
void stacks_add(struct stacks *s, const erltrace_agg_t *a);
/*
 * Before they are written: sorted, outermost frames first; sums that are not positive are left out.
 */
void stacks_finish(struct stacks *s);
/* A copy whose frames are functions: they differ by their names alone. NULL: out of memory. */
struct stacks *stacks_by_function(const struct stacks *s);
static inline const char *stacks_shown_name(const struct st_profile *p)
{
	return p->name[0] == '_' && p->name[1] == '\0' ? "" : p->name;
}

#endif
