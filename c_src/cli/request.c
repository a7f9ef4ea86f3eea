/* SPDX-License-Identifier: Apache-2.0 */
/* What is to be run, and where, as it is added up. */
#include "request.h"

#include <stdlib.h>
#include <string.h>

#include "array.h"

bool cli_add_setting(struct cli_request *r, char flag, const char *name, const char *value)
{
	struct cli_setting s = {.flag = flag, .name = strdup(name), .value = value};

	if (s.name == NULL || !ARRAY_ROOM(r->settings, (size_t)r->nsettings)) {
		free(s.name);
		return false;
	}
	if (flag == 'x' && strchr(s.name, '=') != NULL) {
		*strchr(s.name, '=') = '\0';
		s.value = strchr(name, '=') + 1;
	}
	r->settings[r->nsettings++] = s;
	return true;
}

bool cli_add_arg(struct cli_request *r, const char *arg)
{
	if (!ARRAY_ROOM(r->args, (size_t)r->nargs))
		return false;
	r->args[r->nargs++] = arg;
	return true;
}

bool cli_add_node(struct cli_request *r, const char *name)
{
	if (!ARRAY_ROOM(r->nodes, (size_t)r->nnodes))
		return false;
	r->nodes[r->nnodes++] = name;
	return true;
}

const char *cli_keep(struct cli_request *r, const char *text)
{
	char *copy = strdup(text);

	if (copy == NULL || !ARRAY_ROOM(r->texts, (size_t)r->ntexts)) {
		free(copy);
		return NULL;
	}
	return r->texts[r->ntexts++] = copy;
}

static void free_script(struct cli_script *s)
{
	for (int i = 0; i < s->ndescs; i++)
		free(s->descs[i].text);
	free(s->descs);
	free(s->text);
	free(s->found);
}

void cli_request_free(struct cli_request *r)
{
	for (int i = 0; i < r->nsettings; i++)
		free(r->settings[i].name);
	free(r->settings);
	for (int i = 0; i < r->nscripts; i++)
		free_script(&r->scripts[i]);
	free(r->scripts);
	free(r->headers);
	free(r->args);
	free(r->nodes);
	for (int i = 0; i < r->ntexts; i++)
		free(r->texts[i]);
	free(r->texts);
}
