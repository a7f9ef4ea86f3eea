/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libFuzzer target: bytes as a stream of a node, printed as text and as JSON, with ticks and a walk over the
 * aggregations. Whatever they are, the answer is results, or an error with a tag and a text.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "erltrace.h"
#include "json/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int on_text(void *arg, const char *text, size_t len)
{
	size_t *n = arg;

	for (size_t i = 0; i < len; i++)
		*n += (unsigned char)text[i];
	return 0;
}

static int on_agg(void *arg, const erltrace_agg_t *a)
{
	size_t *n = arg;

	*n += strlen(a->name) + a->nkeys + a->nbuckets;
	return 0;
}

/* It runs nothing and writes no file, though a little is permitted. */
static int on_system(void *arg, const char *command)
{
	*(size_t *)arg += strlen(command);
	return 0;
}

static int on_json_system(void *arg, const char *command)
{
	return on_system(((struct co_json *)arg)->arg, command);
}

static void check(int rc, const erltrace_error_t *e)
{
	if (rc < 0 && (e->tag[0] == '\0' || e->text[0] == '\0'))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool json = size > 0 && (data[0] & 1), two = size > 0 && (data[0] & 2);
	size_t n = 0, piece = size > 1 ? 1 + data[1] * 16u : 1;
	struct co_json j = {.text = on_text, .arg = &n};
	erltrace_handlers_t h = {.size = sizeof(h), .arg = &n, .text = on_text};
	erltrace_error_t e = {.tag = ""};
	erltrace_t *r = erltrace_reader(two ? 2 : 1, &e);
	uint8_t *other = malloc(size + 1); /* another node's: a byte is different, or is not */
	int rc = 0;

	if (other == NULL)
		abort();
	memcpy(other, data, size);
	if (size > 2)
		other[2 + (size - 2) * (data[0] >> 3) / 32] ^= (uint8_t)(data[0] >> 3);
	if (r == NULL || (json && co_json_handlers(&j, &h) < 0))
		abort();
	h.system = h.reopen = json ? on_json_system : on_system;
	if (erltrace_permit(r, "system", "echo %s %d", &e) < 0 ||
		erltrace_permit(r, "freopen", "%d", &e) < 0)
		abort();
	for (size_t at = 2; rc == 0 && at < size; at += piece) {
		size_t len = piece < size - at ? piece : size - at;

		for (unsigned s = 0; s <= two && rc == 0; s++) {
			rc = erltrace_feed(r, s, (s == 0 ? data : other) + at, len, &e);
			check(rc, &e);
		}
		if (rc == 0 && (data[0] & 4))
			for (unsigned s = 0; s <= two; s++)
				check(erltrace_stream_tick(r, s, "n", on_text, &n, &e), &e);
		if (rc == 0)
			check(rc = erltrace_work(r, &h, &e), &e);
	}
	erltrace_feed_end(r, 0);
	erltrace_feed_end(r, 1);
	if (rc == 0)
		check(erltrace_work(r, &h, &e), &e);
	if (erltrace_status(r, NULL) != ERLTRACE_IDLE)
		erltrace_walk(r, NULL, on_agg, &n, &e);
	co_json_free(&j);
	erltrace_close(r);
	free(other);
	return 0;
}
