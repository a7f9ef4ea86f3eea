/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Snapshots of scripts in this process are written by the library. A node sends its own in parts,
 * and they are written here, by the user of the command, to the folder that he has named: a node
 * says neither where nor how many.
 */
#include "snapshots.h"

#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "snapshot_file.h"

struct cli_snapshot {
	struct snapshot_file file;
	char why[264], name[256];
	bool alert; /* it was wanted by the alert() of this name */
	bool told; /* that it cannot be written */
};

/* "FORM NS WHY", or the name of an alert */
static bool read_head(
	const char *text, long len, char form[16], unsigned long long *wall, char name[256])
{
	char head[512];
	int end = 0;

	snprintf(head, sizeof(head), "%.*s", (int)len, text);
	if (sscanf(head, "%15s %llu %n", form, wall, &end) != 2 || end == 0)
		return false;
	snprintf(name, 256, "%.255s", head + end);
	return true;
}

static void begin(struct cli *c, struct cli_snapshot *s, const char *node, const char *text,
	long len, bool alert)
{
	char dir[4096] = "", form[16];
	unsigned long long wall;
	struct snapshot_name name;

	snapshot_file_drop(&s->file);
	if (!read_head(text, len, form, &wall, s->name) ||
		erltrace_getopt(c->h, "snapshotdir", dir, sizeof(dir), NULL) < 0 ||
		dir[0] == '\0') {
		cli_say("node %s: a snapshot that nobody asked for: refused", node);
		s->told = true;
		return;
	}
	s->alert = alert;
	snprintf(s->why, sizeof(s->why), "%s%s", alert ? "alert " : "", s->name);
	name = (struct snapshot_name){.dir = dir,
		.script = c->req.nscripts > 0 && c->req.scripts[0].flag == 's'
				  ? c->req.scripts[0].arg
				  : NULL,
		.node = node,
		.why = s->why,
		.form = form,
		.wall = wall};
	s->told = false;
	snapshot_file_open(&s->file, &name);
}

static void end(struct cli *c, struct cli_snapshot *s)
{
	erltrace_snapshot_t told = {.why = s->why, .alert = s->alert ? s->name : NULL};
	char most[32] = "", text[PATH_MAX + 128];
	int error;

	erltrace_getopt(c->h, "snapshotmax", most, sizeof(most), NULL);
	error = snapshot_file_close(&s->file, (unsigned)strtoul(most, NULL, 10));
	snprintf(text, sizeof(text), "couldn't write %s: %s", s->file.path, strerror(error));
	if (error != 0 && !s->told)
		told.error = text;
	else if (error == 0 && s->file.path[0] != '\0')
		told.file = s->file.path;
	output_snapshot(&c->out, &told);
}

bool cli_snapshot_part(struct cli *c, struct cli_snapshot **at, const char *node, const char *kind,
	const char *text, long len)
{
	if (strncmp(kind, "snap", 4) != 0)
		return false;
	if (*at == NULL && (*at = calloc(1, sizeof(**at))) != NULL)
		(*at)->file.fd = -1;
	if (*at == NULL)
		cli_say("out of memory");
	else if (strcmp(kind, "snapopen") == 0 || strcmp(kind, "snapalert") == 0)
		begin(c, *at, node, text, len, strcmp(kind, "snapalert") == 0);
	else if (strcmp(kind, "snap") == 0)
		snapshot_file_write(&(*at)->file, text, (size_t)len);
	else
		end(c, *at);
	return true;
}

void cli_snapshot_free(struct cli_snapshot *s)
{
	if (s != NULL)
		snapshot_file_drop(&s->file);
	free(s);
}
