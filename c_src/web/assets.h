/* SPDX-License-Identifier: Apache-2.0 */
/* Files that the server sends: the page, and the scripts of the menu. */
#ifndef WEB_ASSETS_H
#define WEB_ASSETS_H

#include <jansson.h>
#include <stddef.h>

struct web;

struct web_file {
	char *name, *text;
	size_t len;
	const char *type;
	char etag[20];
	struct web_file *next;
};

json_t *web_library(const char *folder); /* an array of {name, title, text} */
int web_load_pages(struct web *w);
void web_free_pages(struct web *w);

#endif
