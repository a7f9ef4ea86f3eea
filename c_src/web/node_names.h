/* SPDX-License-Identifier: Apache-2.0 */
/* Which nodes the page may name, and which there are. */
#ifndef WEB_NODE_NAMES_H
#define WEB_NODE_NAMES_H

#include <stdbool.h>

struct web;
struct web_opts;
struct worker;

bool web_same_node(
	const char *name, const char *other); /* "demo" and "demo@host", if that is this one */
bool web_is_node_name(const struct web *w, const char *name);
/* list_nodes.c: a line of JSON says which nodes there are. NULL: no memory, or no thread. */
struct worker *web_ask_nodes(const struct web_opts *o);

#endif
