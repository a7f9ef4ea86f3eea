/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which provider built-ins the probes of the provider erlang can answer (erlang_has.c), from the
 * table erlang_probes.def. The compiler refuses those that no probe of a description has.
 *
 */
#ifndef PROG_ERLANG_HAS_H
#define PROG_ERLANG_HAS_H

#include <stddef.h>
#include <stdint.h>

/* Bits PBI_* of those that belong to some events only. All others are there at any probe. */
uint32_t prog_pbis_of_events(void);
/* The i-th probe of the table: its name, and the built-ins that it has; NULL: there are no more. */
const char *prog_erlang_probe(unsigned i, uint32_t *pbis);
/* The same by its name; a name that is not in the table has none of the events'. */
uint32_t prog_erlang_pbis(const char *name);
/* Arguments that show contents, as bits, of the probes whose names match; "": of any. */
uint32_t prog_erlang_shown(const char *glob);
/* "message-send, message-send-remote, message-queued": the probes that have it. */
void prog_erlang_having(unsigned pbi, char *buf, size_t size);

#endif
