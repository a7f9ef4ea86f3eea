/* SPDX-License-Identifier: Apache-2.0 */
/* Which nodes the page may name. list_nodes.c: which there are. */
#include "web.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

#include "node_names.h"

/* A node's name as -N takes it; nothing that could be an option or mean something else. */
static bool is_name(const char *name)
{
	size_t at = 0, n = strlen(name);

	if (n == 0 || n > 255 || !isalnum((unsigned char)name[0]))
		return false;
	for (size_t i = 0; i < n; i++) {
		at += name[i] == '@';
		if (!isalnum((unsigned char)name[i]) && strchr("_-.@:", name[i]) == NULL)
			return false;
	}
	return at <= 1;
}

static bool is_here(const char *host)
{
	char own[256] = "";
	size_t len;

	if (gethostname(own, sizeof(own) - 1) < 0)
		own[0] = '\0';
	if (strcmp(host, own) == 0 || strcmp(host, "localhost") == 0 || web_is_loopback(host))
		return true;
	len = strcspn(own, "."); /* short names are the host's up to the dot */
	return strlen(host) == len && strncmp(host, own, len) == 0;
}

/* "demo" and "demo@host" are the same node, if it is of this machine. */
bool web_same_node(const char *name, const char *other)
{
	size_t n = strcspn(name, "@"), m = strcspn(other, "@");

	if (n != m || strncmp(name, other, n) != 0)
		return false;
	if (name[n] == '\0' || other[m] == '\0')
		return is_here(name[n] != '\0'	  ? name + n + 1
			       : other[m] != '\0' ? other + m + 1
						  : "localhost");
	return strcmp(name, other) == 0;
}

/* Those of -N; without any those of this machine: the cookie goes nowhere else. */
bool web_is_node_name(const struct web *w, const char *name)
{
	const char *at = strchr(name, '@');

	if (!is_name(name))
		return false;
	for (int i = 0; i < w->o.nnodes; i++)
		if (web_same_node(name, w->o.nodes[i]))
			return true;
	return w->o.nnodes == 0 && (at == NULL || is_here(at + 1));
}
