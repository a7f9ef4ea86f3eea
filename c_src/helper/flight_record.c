/* SPDX-License-Identifier: Apache-2.0 */
#include "flight_record.h"

#include <stdio.h>
#include <string.h>

#include "helper_frames.h"
#include "helper.h"
#include "stream/bytes.h"

static int say(struct co_buf *b)
{
	bool good = frame_write(b);

	cb_free(b);
	return good ? 0 : -1;
}

static int said(enum helper_said kind, const char *text, size_t len)
{
	struct co_buf b = {0};

	sb_put8(&b, HELPER_SAID);
	sb_put8(&b, kind);
	sb_put_bytes(&b, text, (uint32_t)len);
	return say(&b);
}

static int on_text(void *arg, const char *text, size_t len)
{
	(void)arg;
	return said(HELPER_TEXT, text, len);
}

static int on_record(void *arg, const erltrace_event_t *ev, const erltrace_record_t *rec)
{
	const erltrace_value_t *name = rec->values;
	struct co_buf b = {0};

	(void)arg;
	if (strcmp(rec->action, "alert") != 0 || rec->nvalues == 0 || name->bytes == NULL)
		return 0;
	sb_put8(&b, HELPER_SAID);
	sb_put8(&b, HELPER_ALERT);
	sb_put_text(&b, ev->probe.provider);
	sb_put_text(&b, ev->probe.module);
	sb_put_text(&b, ev->probe.function);
	sb_put_text(&b, ev->probe.name);
	sb_put_bytes(&b, name->bytes, (uint32_t)name->len);
	sb_put_bytes(&b, rec->text, (uint32_t)rec->len);
	return say(&b);
}

/* Nobody has asked for it: a file tells of itself. */
static int on_snapshot(void *arg, const erltrace_snapshot_t *s)
{
	char text[512];
	int n;

	(void)arg;
	if (s->error == NULL)
		return 0;
	n = snprintf(text, sizeof(text), "snapshot '%.150s': %.300s", s->why, s->error);
	return said(HELPER_WARNING, text, (size_t)n);
}

const erltrace_handlers_t flight_handlers = {.size = sizeof(flight_handlers),
	.text = on_text,
	.record = on_record,
	.snapshot = on_snapshot};

static int on_file(void *arg, const erltrace_snapshot_t *s)
{
	const char *text = s->error != NULL ? s->error : s->file;

	if (text == NULL)
		return 0;
	sb_put8(arg, s->error == NULL);
	sb_put_text(arg, text);
	return 0;
}

int flight_snapshot(erltrace_t *h, const char *why, struct co_buf *out, erltrace_error_t *e)
{
	const erltrace_handlers_t to = {.size = sizeof(to), .arg = out, .snapshot = on_file};

	return erltrace_take_snapshot(h, why, &to, e) < 0 ? -1 : 0;
}
