/* SPDX-License-Identifier: Apache-2.0 */
/* The kinds of things of the provider state, and their members, by their names: state_kinds.c. */
#ifndef RP_STATE_KINDS_H
#define RP_STATE_KINDS_H

#include <stdbool.h>

/* enum state_kind: "process-5s" is of the kind process; -1: it is no such name. */
int state_kind(const char *probe);
const char *const *state_type(int kind); /* of args[0]; NULL: they are numbers */
/* The index of a member of a probe's things; -1: there is none. */
int state_member(const char *probe, const char *member, bool *is_text);
const char *state_member_name(int kind, unsigned index, bool *is_text); /* NULL: no more */

#endif
