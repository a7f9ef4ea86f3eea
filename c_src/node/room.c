/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Has a node room for erltrace? A VM whose table of atoms is full dies at the next one, and the
 * kernel kills a process whose control group is out of memory. Loading our modules takes some of
 * both: a node that lacks it is left alone, and its user learns why. Memory can be checked where
 * the node is on this machine and its control groups can be seen; else only atoms are.
 */
#include "room.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "file.h"

enum { ATOMS = 4000 };	    /* what we load has some 1,700; a script may make more */
enum { MEMORY = 24 << 20 }; /* modules, library, a script's default buffers */
enum { MAX_TEXT = 1 << 16, NO_LIMIT_SHIFT = 50 };

struct version {
	const char *mount, *prefix, *limit, *used, *inactive, *active;
};

/* Of control groups. Pages of files that are not being written are given up when memory is short.
 */
static const struct version versions[] = {
	{"/sys/fs/cgroup", "0::", "memory.max", "memory.current", "\ninactive_file ",
		"\nactive_file "},
	{"/sys/fs/cgroup/unified", "0::", "memory.max", "memory.current", "\ninactive_file ",
		"\nactive_file "},
	{"/sys/fs/cgroup/memory", "memory:", "memory.limit_in_bytes", "memory.usage_in_bytes",
		"\ntotal_inactive_file ", "\ntotal_active_file "},
};

static char *read_text(const char *dir, const char *group, const char *file)
{
	char path[ND_PATH + 512];
	size_t len;

	snprintf(path, sizeof(path), "%s%s/%s", dir, group, file);
	return file_read(path, MAX_TEXT, &len);
}

/* -1: there is none, or no limit ("max"). */
static int64_t number(const char *dir, const char *group, const char *file)
{
	char *text = read_text(dir, group, file), *end = text;
	int64_t value = text == NULL ? -1 : strtoll(text, &end, 10);

	if (text == NULL || end == text || value >> NO_LIMIT_SHIFT != 0)
		value = -1;
	free(text);
	return value;
}

static int64_t stat_of(const char *text, const char *name)
{
	const char *at = text == NULL ? NULL : strstr(text, name);

	return at == NULL ? 0 : strtoll(at + strlen(name), NULL, 10);
}

static int64_t left_in(const struct version *v, const char *group)
{
	int64_t limit = number(v->mount, group, v->limit), used;
	char *text;

	if (limit < 0)
		return INT64_MAX;
	used = number(v->mount, group, v->used);
	text = read_text(v->mount, group, "memory.stat");
	used -= stat_of(text, v->inactive) + stat_of(text, v->active);
	free(text);
	return limit > used ? limit - used : 0;
}

/* The group and all that it is in. */
static int64_t left_for(const struct version *v, char *group)
{
	int64_t left = INT64_MAX, here;
	char *slash;

	do {
		here = left_in(v, group);
		left = here < left ? here : left;
		slash = strrchr(group, '/');
		if (slash != NULL)
			*slash = '\0';
	} while (slash != NULL);
	return left;
}

static int64_t memory_left(pid_t pid)
{
	char path[64], group[ND_PATH];
	int64_t left = INT64_MAX, here;
	size_t len;
	char *text;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", (int)pid);
	text = file_read(path, MAX_TEXT, &len);
	for (size_t i = 0; text != NULL && i < sizeof(versions) / sizeof(versions[0]); i++) {
		const char *at = strstr(text, versions[i].prefix);

		if (at == NULL || (at != text && at[-1] != '\n' && at[-1] != ':' && at[-1] != ','))
			continue;
		at += strlen(versions[i].prefix);
		snprintf(group, sizeof(group), "%.*s", (int)strcspn(at, "\n"), at);
		if (strcmp(group, "/") == 0)
			group[0] = '\0';
		here = left_for(&versions[i], group);
		left = here < left ? here : left;
	}
	free(text);
	return left;
}

int nd_room(const struct nd *n, struct et_error *e)
{
	pid_t pid = nd_peer_process(n->fd);
	int64_t left = pid == 0 ? INT64_MAX : memory_left(pid);

	if (n->atoms_left < ATOMS)
		return et_err(e, ET_ROOM,
			"the node %s has room for %lld more atoms, and dies when there is none: "
			"erltrace would make two thousand, so it is not loaded (as root -p PID "
			"looks at it from outside)",
			n->name, n->atoms_left);
	if (left < MEMORY)
		return et_err(e, ET_ROOM,
			"the node %s has %.1f MB left of its control group's memory, and is killed "
			"when there is none: erltrace takes %d MB or more, so it is not loaded (as "
			"root -p PID looks at it from outside)",
			n->name, (double)left / (1 << 20), MEMORY >> 20);
	return 0;
}
