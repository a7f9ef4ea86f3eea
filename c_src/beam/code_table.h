/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BEAM_CODE_TABLE_H
#define BEAM_CODE_TABLE_H

#include <erl_nif.h>
#include <stdbool.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)
uint64_t beam_code_frame(uintptr_t pc, bool line);
uint64_t beam_code_function(ERL_NIF_TERM mod, ERL_NIF_TERM fun, unsigned arity);
#pragma GCC visibility pop
#endif
