/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A post has all totals, so that one that is not delivered is no loss: the next has them too. While
 * one waits to be delivered, no other is made.
 */
#include "otlp.h"
#include "serve.h"

#include "erltrace.h"
#include "metrics/otlp_json.h"

void otlp_look(struct serve *v)
{
	struct otlp *o = &v->otlp;
	int64_t now = serve_ms();
	char *text;

	if (!o->on)
		return;
	post_look(&o->post);
	if (now < o->due || !post_free_now(&o->post) || o->last)
		return;
	o->due = now + (int64_t)o->every * 1000;
	o->last = v->closing;
	text = otlp_json(&v->totals, erltrace_version());
	if (text != NULL)
		post_send(&o->post, text);
}

void otlp_end(struct serve *v)
{
	v->otlp.due = 0;
	otlp_look(v);
}

bool otlp_ended(const struct serve *v)
{
	return !v->otlp.on || (v->otlp.last && post_free_now(&v->otlp.post));
}

void otlp_free(struct serve *v)
{
	if (v->otlp.on)
		post_close(&v->otlp.post);
}
