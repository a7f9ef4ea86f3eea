/* SPDX-License-Identifier: Apache-2.0 */
/* What is to be run, and where, as it is added up. */
#include "request.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "array.h"
#include "script_library.h"

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

bool cli_add_script(struct cli_request *r, char flag, const char *arg)
{
	char *found = flag == 's' && access(arg, F_OK) != 0 ? cli_library_find(arg) : NULL;

	if (!ARRAY_ROOM(r->scripts, (size_t)r->nscripts)) {
		free(found);
		return false;
	}
	r->scripts[r->nscripts++] = (struct cli_script){
		.flag = flag, .arg = found != NULL ? found : arg, .found = found};
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

void cli_request_free(struct cli_request *r)
{
	for (int i = 0; i < r->nsettings; i++)
		free(r->settings[i].name);
	free(r->settings);
	for (int i = 0; i < r->nscripts; i++)
		cli_script_free(&r->scripts[i]);
	free(r->scripts);
	free(r->headers);
	free(r->args);
	free(r->nodes);
	for (int i = 0; i < r->ntexts; i++)
		free(r->texts[i]);
	free(r->texts);
}
