/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Files: the scripts of the menu, read when they are asked for, and the page, read once. Where
 * they are: beside the command as built (scripts/, web/dist/), or as installed
 * (share/erltrace/scripts, share/erltrace/web).
 */
#include "web.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "file.h"

enum { MAX_FILE = 8 << 20, MAX_SCRIPTS = 200 };

static char *read_file(const char *folder, const char *name, size_t max, size_t *len)
{
	char path[4096 + 260];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return file_read(path, max, len);
}

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);

	return n > m && strcmp(s + n - m, end) == 0;
}

/* ---- scripts ---------------------------------------------------------------------------- */

/* " * NAME.d: what it shows," and the lines below it up to an empty one. */
static void title_of(const char *name, const char *text, char *title, size_t size)
{
	char head[300];
	const char *p;
	size_t len = 0;

	title[0] = '\0';
	snprintf(head, sizeof(head), " * %s: ", name);
	p = strstr(text, head);
	if (p == NULL)
		return;
	for (p += strlen(head); *p != '\0' && len < size - 2;) {
		size_t n = strcspn(p, "\n");

		while (n-- > 0 && len < size - 2)
			title[len++] = *p++;
		p += strcspn(p, "\n");
		if (strncmp(p, "\n * ", 4) != 0)
			break;
		p += 4;
		title[len++] = ' ';
	}
	title[len] = '\0';
	web_to_utf8(title, len); /* cut, maybe within a character */
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static int is_script(const struct dirent *d)
{
	return d->d_name[0] != '.' && ends_with(d->d_name, ".d");
}

json_t *web_library(const char *folder)
{
	json_t *all = json_array();
	struct dirent **v = NULL;
	size_t sum = 0;
	int n = folder[0] != '\0' ? scandir(folder, &v, is_script, by_name) : 0;

	for (int i = 0; i < n; i++) {
		char title[300], name[260];
		size_t len;
		char *text = i < MAX_SCRIPTS
				     ? read_file(folder, v[i]->d_name, WEB_MAX_SCRIPT, &len)
				     : NULL;

		if (text != NULL && (sum += len) <= WEB_MAX_LIBRARY) {
			web_to_utf8(text, len);
			title_of(v[i]->d_name, text, title, sizeof(title));
			snprintf(name, sizeof(name), "%s", v[i]->d_name);
			name[strlen(name) - 2] = '\0';
			json_array_append_new(all, json_pack("{ss ss ss}", "name", name, "title",
							   title, "text", text));
		}
		free(text);
		free(v[i]);
	}
	free(v);
	return all;
}

/* ---- the page --------------------------------------------------------------------------- */

static const char *type_of(const char *name)
{
	static const char *const types[][2] = {
		{".html", "text/html; charset=utf-8"},
		{".js", "text/javascript; charset=utf-8"},
		{".css", "text/css; charset=utf-8"},
		{".svg", "image/svg+xml"},
		{".png", "image/png"},
		{".txt", "text/plain; charset=utf-8"},
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (ends_with(name, types[i][0]))
			return types[i][1];
	return NULL;
}

static int load(struct web *w, const char *name)
{
	struct web_file *f = calloc(1, sizeof(*f));
	uint8_t digest[WEB_DIGEST];

	if (f == NULL)
		return -1;
	f->type = type_of(name);
	f->name = strdup(name);
	f->text = read_file(w->o.pages, name, MAX_FILE, &f->len);
	f->next = w->files;
	w->files = f;
	if (f->name == NULL || f->text == NULL)
		return -1;
	web_digest(f->text, f->len, digest);
	f->etag[0] = '"';
	web_hex(digest, 8, f->etag + 1);
	strcat(f->etag, "\"");
	return 0;
}

int web_load_pages(struct web *w)
{
	DIR *d = w->o.pages[0] != '\0' ? opendir(w->o.pages) : NULL;
	struct dirent *e;
	bool whole = false;

	while (d != NULL && (e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.' || type_of(e->d_name) == NULL)
			continue;
		if (load(w, e->d_name) < 0) {
			web_say("cannot read %s/%s: %s", w->o.pages, e->d_name, strerror(errno));
			closedir(d);
			return -1;
		}
		whole |= strcmp(e->d_name, "index.html") == 0;
	}
	if (d != NULL)
		closedir(d);
	if (whole)
		return 0;
	web_say("the page is not there (index.html in %s): make web builds it, and needs npm",
		w->o.pages[0] != '\0' ? w->o.pages : "web/dist or share/erltrace/web");
	return -1;
}

void web_free_pages(struct web *w)
{
	struct web_file *f;

	while ((f = w->files) != NULL) {
		w->files = f->next;
		free(f->name);
		free(f->text);
		free(f);
	}
}
