/* SPDX-License-Identifier: Apache-2.0 */
/* The USDT probe of the same name as an event's (usdt_fire.c, probe path). */
#ifndef BEAM_USDT_FIRE_H
#define BEAM_USDT_FIRE_H

#include <stdbool.h>

#pragma GCC visibility push(hidden)

struct fire;

bool beam_usdt(const struct fire *f); /* false: nobody is there */

#pragma GCC visibility pop
#endif
