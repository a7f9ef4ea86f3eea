/* SPDX-License-Identifier: Apache-2.0 */
#include "paths.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Under PREFIX and LIBDIR: as make install puts them. */
#ifndef ERLTRACE_LIBDIR
#define ERLTRACE_LIBDIR "/usr/local/lib/erltrace"
#endif
#ifndef ERLTRACE_SHARE
#define ERLTRACE_SHARE "/usr/local/share/erltrace"
#endif

const struct install_dir paths_library = {"priv/erltrace.so", ".", "lib/erltrace", ERLTRACE_LIBDIR};
const struct install_dir paths_scripts = {
	"", "scripts", "share/erltrace/scripts", ERLTRACE_SHARE "/scripts"};
const struct install_dir paths_pages = {
	"", "web/dist", "share/erltrace/web", ERLTRACE_SHARE "/web"};

bool paths_root(char root[PATH_MAX])
{
	ssize_t len = readlink("/proc/self/exe", root, PATH_MAX - 1);

	for (int up = 0; up < 2; up++) {
		char *slash;

		if (len <= 0) {
			root[0] = '\0';
			return false;
		}
		root[len] = '\0';
		slash = strrchr(root, '/');
		len = slash == NULL ? 0 : slash - root;
	}
	root[len] = '\0';
	return true;
}

static bool has(const char *dir, const char *file)
{
	char path[PATH_MAX];
	int len = snprintf(path, sizeof(path), "%s/%s", dir, file);

	return len > 0 && len < (int)sizeof(path) && access(path, R_OK) == 0;
}

bool paths_find(const struct install_dir *p, char to[PATH_MAX])
{
	const char *below[] = {p->built, p->installed};
	char root[PATH_MAX];

	for (int i = 0; i < 2 && paths_root(root); i++) {
		int len = snprintf(to, PATH_MAX, "%s/%s", root, below[i]);

		if (len > 0 && len < PATH_MAX && has(to, p->file))
			return true;
	}
	snprintf(to, PATH_MAX, "%s", p->configured);
	if (has(to, p->file))
		return true;
	to[0] = '\0';
	return false;
}
