/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bridge to the node that has started us (include/erltrace.h): its probes, and the script that
 * hands its events over. The node is asked over our output, and replies on our input
 * (src/handle/erltrace_bridge.erl).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "erltrace.h"
#include "error.h"
#include "helper_frames.h"
#include "helper.h"

/* The reply to a request, which is emptied; s has what follows its letter. NULL: there is none. */
static uint8_t *ask(struct co_buf *request, struct sb *s)
{
	uint8_t *reply = NULL;
	size_t len = 0;

	if (frame_write(request))
		reply = frame_reply(&len);
	cb_free(request);
	if (reply != NULL)
		*s = (struct sb){reply + 1, len - 1, false};
	return reply;
}

static void copy_text(struct sb *s, char *to, size_t size)
{
	uint32_t len = sb_get32(s);
	const char *from = len != SB_NULL ? sb_get(s, len) : NULL;

	snprintf(to, size, "%.*s", from != NULL ? (int)len : 0, from != NULL ? from : "");
}

/* A reply that should be of this kind and is not: why. */
static int refused(const uint8_t *reply, struct sb *s, erltrace_error_t *err)
{
	char tag[32], text[900];

	if (reply == NULL || reply[0] != HELPER_REFUSED)
		return et_err(err, ET_NODE, "the node does not answer");
	copy_text(s, tag, sizeof(tag));
	err->line = (int)sb_get32(s);
	err->column = (int)sb_get32(s);
	copy_text(s, text, sizeof(text));
	snprintf(err->tag, sizeof(err->tag), "%s", tag);
	snprintf(err->text, sizeof(err->text), "%s", text);
	return -1;
}

static int each_row(struct sb *s, erltrace_probe_cb *cb, void *arg)
{
	char part[4][1024];
	int rc = 0;

	while (rc == 0 && s->left > 0 && !s->bad) {
		erltrace_probe_info_t p = {.nargs = -1,
			.provider = part[0],
			.module = part[1],
			.function = part[2],
			.name = part[3]};

		for (int i = 0; i < 4; i++)
			copy_text(s, part[i], sizeof(part[i]));
		if (!s->bad)
			rc = cb(arg, &p);
	}
	return rc;
}

static int b_list(void *arg, const char *const *nodes, const char *desc, erltrace_probe_cb *cb,
	void *cb_arg, erltrace_error_t *err)
{
	struct co_buf b = {0};
	struct sb s;
	uint8_t *reply;
	int rc;

	(void)arg, (void)nodes;
	sb_put8(&b, HELPER_NODE_LIST);
	sb_put_text(&b, desc);
	reply = ask(&b, &s);
	if (reply != NULL && reply[0] == HELPER_NODE_ROWS)
		rc = each_row(&s, cb, cb_arg);
	else
		rc = refused(reply, &s, err);
	free(reply);
	return rc;
}

/* There is one node: ours. */
static int b_arm(void *arg, const erltrace_arming_t *a, erltrace_error_t *err)
{
	struct co_buf b = {0};
	struct sb s;
	uint8_t *reply;
	uint32_t n = 0;
	int rc = 0;

	(void)arg;
	if (a->nscripts != 1)
		return et_err(err, ET_NODE, "erlang probes of other nodes than this one");
	while (a->options[n] != NULL)
		n++;
	sb_put8(&b, HELPER_NODE_ARM);
	sb_put_text(&b, a->scripts[0].text);
	sb_put32(&b, n);
	for (uint32_t i = 0; i < n; i++)
		sb_put_text(&b, a->options[i]);
	reply = ask(&b, &s);
	if (reply == NULL || reply[0] != HELPER_DONE_SO)
		rc = refused(reply, &s, err);
	free(reply);
	return rc;
}

static int b_news(void *arg, char *buf, size_t size)
{
	struct co_buf b = {0};
	struct sb s;
	uint8_t *reply;
	int rc = -1;

	(void)arg;
	sb_put8(&b, HELPER_NODE_NEWS);
	reply = ask(&b, &s);
	if (reply != NULL && reply[0] == HELPER_NEWS) {
		rc = (int8_t)sb_get8(&s);
		copy_text(&s, buf, size);
	}
	free(reply);
	return rc;
}

static void b_disarm(void *arg)
{
	struct co_buf b = {0};
	struct sb s;

	(void)arg;
	sb_put8(&b, HELPER_NODE_DISARM);
	free(ask(&b, &s));
}

void helper_bridge(erltrace_t *h)
{
	static const erltrace_bridge_t bridge = {.size = sizeof(bridge),
		.list = b_list,
		.arm = b_arm,
		.news = b_news,
		.disarm = b_disarm};

	erltrace_set_bridge(h, &bridge, NULL);
}
