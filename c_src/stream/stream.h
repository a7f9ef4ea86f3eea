/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stream: what an engine has gathered, as bytes, for a consumer that is elsewhere. It describes
 * itself: who reads it needs neither the script nor the node (doc/stream.md).
 *
 *   stream.h       frames, and their kinds
 *   bytes.h        numbers and texts, written and read
 *   stream_program.c  the tables of a program (prog/prog.h): what its records and aggregations are
 *   stream_types.c        types of D, for print()
 *   writer.c       an engine -> frames
 *   reader.c       frames of one stream or several -> the origin of a consumer (consume/origin.h)
 *   queue.c        ... records and aggregations that are not consumed yet, in order of time
 *   permitted.c    ... what a program may do here
 *   said.c         texts of addresses and processes that a stream has said
 *
 * A frame is u32 the length of what follows, u8 its kind, and its contents. Integers are
 * little-endian, as records are. A batch is any number of frames and a TIME frame: aggregations
 * stand before the records that may print them.
 *
 * What a stream says comes from another machine: all of it is checked.
 */
#ifndef STREAM_STREAM_H
#define STREAM_STREAM_H

#include <stdint.h>

enum { STREAM_VERSION = 2, STREAM_MAX_FRAME = 16 << 20 };
#define STREAM_MAGIC UINT32_C(0x73747465) /* "etts" */

/* kind, letter, contents: text is u32 length and bytes */
#define STREAM_FRAMES(X)                                                                           \
	X(HEAD, 'H', "u32 magic, u16 version, text node")                                          \
	X(PROGRAM, 'G', "options, types, aggregations, clauses: stream_program.c")                        \
	X(PROBE, 'B', "u32 epid, u32 clause, u32 id, 4 texts, i32 arguments, their types")        \
	X(NAME, 'N', "u64 address, u8 form, text")                                                 \
	X(FORGET, 'F', "nothing: the names and processes so far are not used again")              \
	X(PROCESS, 'P', "u64 term, text")                                                          \
	X(AGGREGATION, 'A', "u16 aggregation, u32 length, u32 pairs, key, pairs of u32, u64")     \
	X(RECORDS, 'R', "u32 thread, records of it (prog/record.h)")                                \
	X(DROPS, 'D', "u32 thread, u32 kind, u64 total")                                           \
	X(NEWS, 'W', "text: a message for the user")                                               \
	X(SEEN, 'S', "u64 ns, events, rounds, whole, things, now, there")                          \
	X(TIME, 'T', "u64 monotonic, u64 since 1970, u64 fired, u32 threads, u32 cost in permille") \
	X(END, 'E', "i32 status of exit(), or -1")
enum stream_frame {
#define X(id, letter, contents) STREAM_##id = letter,
	STREAM_FRAMES(X)
#undef X
};

#endif
