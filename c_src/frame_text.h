/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a frame's text, as stacks print it:
 *
 *	lists:seq/2 (lists.erl:12)	function, file and line
 *	lists:seq/2
 *	lists:map/2 (lists.erl:12) (x 998)	the same frame so many times, or "998+": at least
 *	(more frames)			frames are left out here
 *	libc.so.6`read+0x10		module and function; the offset is no part of them
 *	beam.smp`0x55d0c0, beam.smp+0x1c0aa, 0x7f00	code whose function is not known
 */
#ifndef ET_FRAME_TEXT_H
#define ET_FRAME_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frame_text {
	/* the text's first bytes are the function, with its module; 0: not known */
	size_t function;
	size_t module;	 /* ... the program or library that it is of; 0: none, or not known */
	const char *file; /* NULL: not known */
	size_t file_len;
	uint64_t line;
	uint64_t address; /* if the function is not known */
};

void frame_text_split(const char *text, size_t len, struct frame_text *f);
/*
 * The function that a frame is counted for: its name, or "[module]" for code without names, which
 * is at other addresses in each process. Returns its length, which may be more than the size.
 *
 */
size_t frame_text_function(const char *text, size_t len, char *buf, size_t size);
#define FRAME_TEXT_NONE "(no stack)" /* what a stack without frames is counted for */
#define FRAME_TEXT_CUT	"(more frames)"
/* The length without how often it is there: recursions of any depth are the same frame. */
size_t frame_text_once(const char *text, size_t len);
/* Zero is where a walk along frames ends, not one of them. */
bool frame_text_is_end(const char *text, size_t len);

#endif
