/* SPDX-License-Identifier: Apache-2.0 */
/* --otlp: flows as spans, posted to a collector of OpenTelemetry (flow_post.c). */
#ifndef CLI_FLOW_POST_H
#define CLI_FLOW_POST_H

#include <stdint.h>

struct flow;
struct flow_post;
struct flows;

struct flow_post *flow_post_open(const char *url); /* NULL: the error has been reported */
void flow_post_add(struct flow_post *p, const struct flows *s, const struct flow *f);
void flow_post_look(struct flow_post *p, int64_t now_ms); /* post, if it is time */
/* what is left is posted; -1: some was lost, which is said */
int flow_post_close(struct flow_post *p);

#endif
