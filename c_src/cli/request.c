/* SPDX-License-Identifier: Apache-2.0 */
/* What is to be run, and where, as it is added up. */
#include "request.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "cli.h"
#include "script_library.h"

bool cli_add_setting(struct cli *c, char flag, const char *name, const char *value)
{
	struct cli_setting s = {.flag = flag, .name = strdup(name), .value = value};

	if (s.name == NULL || !ARRAY_ROOM(c->settings, (size_t)c->nsettings)) {
		free(s.name);
		return false;
	}
	if (flag == 'x' && strchr(s.name, '=') != NULL) {
		*strchr(s.name, '=') = '\0';
		s.value = strchr(name, '=') + 1;
	}
	c->settings[c->nsettings++] = s;
	return true;
}

bool cli_add_script(struct cli *c, char flag, const char *arg)
{
	char *found = flag == 's' && access(arg, F_OK) != 0 ? cli_library_find(arg) : NULL;

	if (!ARRAY_ROOM(c->scripts, (size_t)c->nscripts)) {
		free(found);
		return false;
	}
	c->scripts[c->nscripts++] = (struct cli_script){
		.flag = flag, .arg = found != NULL ? found : arg, .found = found};
	return true;
}

bool cli_add_arg(struct cli *c, const char *arg)
{
	if (!ARRAY_ROOM(c->args, (size_t)c->nargs))
		return false;
	c->args[c->nargs++] = arg;
	return true;
}

bool cli_add_node(struct cli *c, const char *name)
{
	if (!ARRAY_ROOM(c->nodes, (size_t)c->nnodes))
		return false;
	c->nodes[c->nnodes++] = name;
	return true;
}

const char *cli_keep(struct cli *c, const char *text)
{
	char *copy = strdup(text);

	if (copy == NULL || !ARRAY_ROOM(c->texts, (size_t)c->ntexts)) {
		free(copy);
		return NULL;
	}
	return c->texts[c->ntexts++] = copy;
}

void cli_request_free(struct cli *c)
{
	for (int i = 0; i < c->nsettings; i++)
		free(c->settings[i].name);
	free(c->settings);
	cli_scan_free(c);
	for (int i = 0; i < c->nscripts; i++)
		free(c->scripts[i].found);
	free(c->scripts);
	free(c->headers);
	free(c->procs);
	free(c->args);
	free(c->nodes);
	cli_flow_options_free(&c->flow_options);
	for (int i = 0; i < c->ntexts; i++)
		free(c->texts[i]);
	free(c->texts);
}
