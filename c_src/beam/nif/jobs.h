/* SPDX-License-Identifier: Apache-2.0 */
/* NIFs that take long, on threads of the library (jobs.c). */
#ifndef BEAM_JOBS_H
#define BEAM_JOBS_H

#include <erl_nif.h>
#include <stdbool.h>

#pragma GCC visibility push(hidden)

bool jobs_init(void);
/* Run fn on such a thread, soon. false: there is none. */
bool jobs_run(void (*fn)(void *arg), void *arg);
void jobs_unload(void); /* threads that have nothing to do end at once */

#pragma GCC visibility pop
#endif
