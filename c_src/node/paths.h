/* SPDX-License-Identifier: Apache-2.0 */
/* Where erltrace's own files are: what it loads into nodes, scripts of the library, the page. */
#ifndef NODE_PATHS_H
#define NODE_PATHS_H

#include <limits.h>
#include <stdbool.h>

/* A folder of such files. It is the right one if it has this file in it; "": if it is there. */
struct install_dir {
	const char *file;
	const char *built;	/* the folder, from the root of the sources */
	const char *installed;	/* ... from PREFIX */
	const char *configured; /* ... as it was built to be installed */
};

extern const struct install_dir paths_library; /* ebin and priv */
extern const struct install_dir paths_scripts;
extern const struct install_dir paths_pages;

/* The folder above the one that the command is in: the root of the sources, or PREFIX. */
bool paths_root(char root[PATH_MAX]);

/* Beside the command, as built or as installed; else as configured; false: nowhere. */
bool paths_find(const struct install_dir *p, char to[PATH_MAX]);

#endif
