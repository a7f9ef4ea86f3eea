/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames that are no Erlang functions (vm_frames.c): a function of the VM, by its address; and
 * these, where there is none.
 */
#ifndef BEAM_VM_FRAMES_H
#define BEAM_VM_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(hidden)

/* No addresses: the first page is never mapped. */
enum { FRAME_GC = 1, FRAME_SCHEDULER, FRAME_C, FRAME_UNKNOWN };

bool code_vm_frame_text(uint64_t frame, char *buf, size_t size); /* false: none of these */

#pragma GCC visibility pop
#endif
