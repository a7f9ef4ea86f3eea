/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers of processes, read without their help (proc_words.c). */
#ifndef BEAM_PROC_WORDS_H
#define BEAM_PROC_WORDS_H

#include "beam/vm/facts.h"

#pragma GCC visibility push(hidden)

extern const struct find_fact proc_words_fact;

#pragma GCC visibility pop
#endif
