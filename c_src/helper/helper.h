/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The helper of a node for probes of the kernel: priv/erltrace-kernel, a program that may have what
 * the node has not, such as file capabilities. A node starts one for each handle whose script names
 * the kernel (src/handle/erltrace_kernel.erl): it compiles the script, runs it, and answers with a
 * stream (c_src/stream/), which the library inside the node reads.
 *
 *   helper_main.c   its life: it ends with its owner, whatever happens
 *   orders.c        what the node orders, and the answers
 *   node_bridge.c   probes of the node itself, for a script that has both
 *   helper_frames.c reading and writing frames
 *   cost.c          what a script costs; one that costs too much is ended
 *   flight_record.c alerts and snapshots of a flight recorder
 *   rights.c        who may trace what: privileges, and the administrator's file
 *
 * Both directions are frames of u32 length, big-endian (Erlang's {packet, 4}), a letter, and
 * contents as in stream/bytes.h: little-endian, texts with their lengths. The node sends one order
 * at a time. Each has one answer; COST, OVER, ABORTED and SAID come by themselves. Before it
 * answers, the helper may have requests, each of which has one reply.
 */
#ifndef HELPER_HELPER_H
#define HELPER_HELPER_H

#include <stddef.h>
#include <stdint.h>

#include "consume/textbuf.h"
#include "stream/bytes.h"

enum { HELPER_VERSION = 2, HELPER_MAX_ORDER = 20 << 20 };
/* Exit statuses: the node is gone, or nothing can be done; its file is set-user-ID. */
enum { HELPER_GONE = 1, HELPER_USAGE = 2, HELPER_SET_ID = 3 };

/*
 * state: u8 enum erltrace_status_t, i32 exit code, u64 firings, u64 ns of processor time that the
 * script has taken, u32 of 1000 parts of what the machine's processors did
 */
#define HELPER_ORDERS(X)                                                                           \
	X(OPTION, 'O', "text name, text value: OK")                                                \
	X(TARGET, 'T', "u32 process that is $target: OK")                                          \
	X(COMPILE, 'C', "text script, text file, u8 flags, u32 n, n texts: OK with u32 matches")   \
	X(FORBID, 'F', "nothing: OK; destructive actions are forbidden in the node")               \
	X(LIST, 'L', "text description: ROWS")                                                     \
	X(GO, 'G', "nothing: OK")                                                                  \
	X(ASK, 'A', "u8 flags, u32 ms between aggregations, u32 ms between times: STREAM")         \
	X(SNAPSHOT, 'P', "text why: FILES; of a flight recorder")                                  \
	X(STOP, 'S', "nothing: OK")
#define HELPER_ANSWERS(X)                                                                          \
	X(HELLO, 'h', "u16 version: the first frame, by itself")                                   \
	X(OK, 'k', "state, u32")                                                                   \
	X(ERROR, 'e', "text tag, u32 line, u32 column, text, text file, text source line")         \
	X(STREAM, 's', "u8 enum helper_more, state, bytes of the stream")                          \
	X(ROWS, 'r', "of each probe: u32 id, 4 texts, i32 arguments, their types")                 \
	X(COST, 'c', "state: of a script that goes on, now and then")                              \
	X(OVER, 'o', "state: the script has ended by itself")                                      \
	X(ABORTED, 'w', "state, text: the watchdog has ended it")                                  \
	X(FILES, 'f', "of each that was written, or could not be: u8 whether it was, text")        \
	X(SAID, 'm',                                                                               \
		"u8 enum helper_said, text; of an alert before that 4 texts of the probe, its "    \
		"name")
#define HELPER_REQUESTS(X)                                                                         \
	X(NODE_LIST, 'l', "text description: NODE_ROWS")                                           \
	X(NODE_ARM, 'a', "text script, u32 n, n texts name=value: DONE_SO")                        \
	X(NODE_NEWS, 'n', "nothing: NEWS")                                                         \
	X(NODE_DISARM, 'd', "nothing: DONE_SO")
#define HELPER_REPLIES(X)                                                                          \
	X(NODE_ROWS, 'R', "of each probe: 4 texts")                                                \
	X(DONE_SO, 'K', "nothing")                                                                 \
	X(NEWS, 'N', "i8 as of struct erltrace_bridge, text")                                      \
	X(REFUSED, 'X', "text tag, u32 line, u32 column, text")
#define HELPER_FRAMES(X) HELPER_ORDERS(X) HELPER_ANSWERS(X) HELPER_REQUESTS(X) HELPER_REPLIES(X)
enum helper_frame {
#define X(id, letter, contents) HELPER_##id = letter,
	HELPER_FRAMES(X)
#undef X
};
enum { HELPER_DEFAULT_ACTION = 1, HELPER_ZERO_MATCHES = 2, HELPER_EMPTY = 4 }; /* COMPILE */
enum { HELPER_NOW = 1, HELPER_NO_RECORDS = 2 };			/* ASK: struct sw_round */
enum helper_said { HELPER_TEXT, HELPER_WARNING, HELPER_ALERT }; /* by a flight recorder */
enum helper_more { HELPER_ALL, HELPER_MORE, HELPER_DONE };

struct helper; /* one script */
struct erltrace;
void helper_bridge(struct erltrace *h); /* node_bridge.c */

struct helper *helper_new(void); /* NULL: out of memory, or the environment has bad options */
void helper_free(struct helper *h);
/* An order, whole; the answer is added to out, without its length. -1: this is none. */
int helper_order(struct helper *h, const uint8_t *order, size_t len, struct co_buf *out);
/* What is due while nobody asks; a frame is added to out. Returns after how many ms it is again. */
int helper_tend(struct helper *h, struct co_buf *out);

#endif
