/* SPDX-License-Identifier: Apache-2.0 */
/* Where erltrace's own files are: what it brings into nodes, scripts of the library, the page. */
#ifndef NODE_PLACES_H
#define NODE_PLACES_H

#include <limits.h>
#include <stdbool.h>

/* A kind of files: a folder has them if it has this one; "" is the folder itself. */
struct place {
	const char *file;
	const char *built;	/* the folder, from the root of the sources */
	const char *installed;	/* ... from PREFIX */
	const char *configured; /* ... as it was built to be installed */
};

extern const struct place place_library; /* ebin and priv */
extern const struct place place_scripts;
extern const struct place place_pages;

/* The folder above the one that the command is in: the root of the sources, or PREFIX. */
bool place_root(char root[PATH_MAX]);

/* The folder: beside the command, as built or as installed, else as configured; else "". */
bool place_find(const struct place *p, char to[PATH_MAX]);

#endif
