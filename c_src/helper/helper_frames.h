/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of the helper's input and output. */
#ifndef HELPER_FRAMES_H
#define HELPER_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "consume/textbuf.h"

/* What out holds, as one frame; it is empty then. false: the output is closed, or out of memory. */
bool frame_write(struct co_buf *out);
/* An order that came while we waited for a reply: it is read without waiting. */
bool frame_waits(void);
/* The next order. NULL: the input has ended, or out of memory. To be freed. */
uint8_t *frame_order(size_t *len);
/* The reply to a request of ours; the same. */
uint8_t *frame_reply(size_t *len);

#endif
