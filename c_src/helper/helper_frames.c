/* SPDX-License-Identifier: Apache-2.0 */
#include "helper_frames.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "helper.h"

/* The node sends an order at a time: there is room for one. */
static struct {
	uint8_t *order;
	size_t len;
} waiting;

static bool read_all(void *to, size_t len)
{
	char *p = to;

	while (len > 0) {
		ssize_t n = read(STDIN_FILENO, p, len);

		if (n == 0 || (n < 0 && errno != EINTR))
			return false;
		p += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return true;
}

static bool write_all(const char *p, size_t len)
{
	while (len > 0) {
		ssize_t n = write(STDOUT_FILENO, p, len);

		if (n < 0 && errno != EINTR)
			return false;
		p += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return true;
}

bool frame_write(struct co_buf *out)
{
	const size_t len = out->len;
	const char head[4] = {(char)(len >> 24), (char)(len >> 16), (char)(len >> 8), (char)len};
	bool good = !out->nomem && write_all(head, sizeof(head)) && write_all(out->p, len);

	out->len = 0;
	return good;
}

static uint8_t *frame_read(size_t *len)
{
	uint8_t head[4], *frame;

	if (!read_all(head, sizeof(head)))
		return NULL;
	*len = (size_t)head[0] << 24 | (size_t)head[1] << 16 | (size_t)head[2] << 8 | head[3];
	if (*len == 0 || *len > HELPER_MAX_ORDER || (frame = malloc(*len)) == NULL)
		return NULL;
	if (read_all(frame, *len))
		return frame;
	free(frame);
	return NULL;
}

static bool is_reply(uint8_t letter)
{
	switch (letter) {
#define X(id, l, contents) case HELPER_##id:
		HELPER_REPLIES(X)
#undef X
		return true;
	default: return false;
	}
}

bool frame_waits(void)
{
	return waiting.order != NULL;
}

uint8_t *frame_order(size_t *len)
{
	uint8_t *order = waiting.order;

	if (order == NULL)
		return frame_read(len);
	*len = waiting.len;
	waiting.order = NULL;
	return order;
}

uint8_t *frame_reply(size_t *len)
{
	uint8_t *frame;

	while ((frame = frame_read(len)) != NULL && !is_reply(frame[0])) {
		free(waiting.order);
		waiting.order = frame;
		waiting.len = *len;
	}
	return frame;
}
