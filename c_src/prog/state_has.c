/* SPDX-License-Identifier: Apache-2.0 */
/* The process that firings of the provider state are about: itself, or who owns the thing. */
#include "builtins.h"
#include "erlang_has.h"
#include "state_has.h"

uint32_t prog_state_pbis(int kind)
{
	uint32_t not_here = 1u << PBI_ERLSCHED | 1u << PBI_ERLSTATE | 1u << PBI_USDT;
	uint32_t process = 1u << PBI_ERLPID | 1u << PBI_ERLNAME | 1u << PBI_ERLPROC;

	if (kind != STATE_PROCESS)
		not_here |= kind > STATE_SOCKET ? process : 1u << PBI_ERLNAME;
	return (~prog_pbis_of_events() & ~not_here) |
	       (kind < STATE_ROUND ? 1u << PBI_STATE_NUMBER | 1u << PBI_STATE_TEXT : 0);
}
