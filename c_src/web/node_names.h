/* SPDX-License-Identifier: Apache-2.0 */
/* Which nodes the page may name, and which there are. */
#ifndef WEB_NODE_NAMES_H
#define WEB_NODE_NAMES_H

#include <stdbool.h>

struct web;
struct web_opts;

bool web_same_node(
	const char *name, const char *other); /* "demo" and "demo@host", if that is this one */
bool web_is_node_name(const struct web *w, const char *name);
int web_list_nodes(const struct web_opts *o); /* list_nodes.c, in a child: one line of JSON */

#endif
