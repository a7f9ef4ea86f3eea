/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Ticks for a page that asked for them packed ("packed":true of run): nearly all of a tick's text
 * is buckets, thousands of them ten times a second, which a browser would have to collect as
 * garbage. A packed tick is one binary message:
 *
 *   4 bytes    how long the head is, the least byte first
 *   head       the message as it would be as text, but each list of buckets is a number: how many
 *              buckets it has
 *   runs       those buckets, list after list
 *
 * Numbers in runs have 7 bits a byte, the least first, the 8th bit says that more follow. Signed
 * ones are n * 2, or -n * 2 - 1 below zero. A list begins at place 0. A run is a number n * 4 +
 * kind:
 *
 *   kind 0     n buckets side by side and equally wide: from the place on to the first one's lo
 *              (signed), their width, n counts. The place is the last one's hi
 *   kind 1     n is 1. No lo: hi (signed, from 0), its count. The place is hi
 *   kind 2     n is 1. No hi: from the place on to lo (signed), its count
 *
 * What is written here is read by web/src/wire.js. Other lines that come together go to such a page
 * as one message {"type":"lines","id":ID,"lines":[...]}.
 */
#ifndef WEB_PACK_H
#define WEB_PACK_H

#include <stdbool.h>
#include <stddef.h>

struct web_bytes {
	unsigned char *v;
	size_t n, room;
};

struct web_pack {
	struct web_bytes out; /* all of the message */
	struct web_bytes runs, list;
	bool failed; /* no memory */
};

/*
 * Packs {"type":"line","id":ID,"line":LINE} into p->out; what p had is overwritten, its memory
 * used again. False: send it as text; it has no buckets, or not as our JSON writer writes them, or
 * numbers beyond 2^51.
 */
bool web_pack(struct web_pack *p, long long id, const char *line, size_t len);
void web_pack_free(struct web_pack *p);

#endif
