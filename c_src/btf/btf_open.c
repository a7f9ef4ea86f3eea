/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of a kernel: vmlinux at once, those of modules when somebody looks into them. The
 * running kernel's are shared by all in this process who have them open.
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "btf.h"
#include "btf_file.h"

#define FOLDER "/sys/kernel/btf"

struct one {
	char *name;
	struct btf_file *file; /* NULL: not opened yet, or failed */
	bool tried;
};

struct btf {
	char *folder;
	struct one *all; /* the first is vmlinux */
	unsigned n;
	bool listed;	      /* modules are among them */
	pthread_mutex_t lock; /* of all that */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows */
static const char *where = FOLDER;
static struct btf *shared;
static unsigned users;

static struct btf_file *open_one(const struct btf *b, const char *name, const struct btf_file *base)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", b->folder, name);
	return btf_file_open(path, base);
}

static bool add(struct btf *b, const char *name)
{
	char *copy = strdup(name);

	if (copy == NULL || !ARRAY_ROOM(b->all, b->n)) {
		free(copy);
		return false;
	}
	b->all[b->n++] = (struct one){.name = copy};
	return true;
}

static void destroy(struct btf *b)
{
	for (unsigned i = b->n; i > 0; i--) {
		btf_file_close(b->all[i - 1].file);
		free(b->all[i - 1].name);
	}
	pthread_mutex_destroy(&b->lock);
	free(b->all);
	free(b->folder);
	free(b);
}

struct btf *btf_open_folder(const char *folder, struct et_error *e)
{
	struct btf *b = calloc(1, sizeof(*b));

	if (b == NULL || (b->folder = strdup(folder)) == NULL) {
		free(b);
		et_err(e, ET_NOMEM, "out of memory for the types of the kernel");
		return NULL;
	}
	pthread_mutex_init(&b->lock, NULL);
	if (!add(b, "vmlinux") || (b->all[0].file = open_one(b, "vmlinux", NULL)) == NULL) {
		if (errno == ENOENT)
			et_err(e, ET_KERNEL,
				"the kernel does not tell its types: %s/vmlinux is missing "
				"(CONFIG_DEBUG_INFO_BTF)",
				folder);
		else
			et_err(e, ET_KERNEL, "%s/vmlinux, the types of the kernel: %s", folder,
				errno == EBADMSG ? "it is not BTF, or broken" : strerror(errno));
		destroy(b);
		return NULL;
	}
	b->all[0].tried = true;
	return b;
}

struct btf *btf_open(struct et_error *e)
{
	pthread_mutex_lock(&lock);
	if (shared == NULL)
		shared = btf_open_folder(where, e);
	users += shared != NULL;
	pthread_mutex_unlock(&lock);
	return shared;
}

void btf_folder(const char *folder)
{
	where = folder != NULL ? folder : FOLDER;
}

void btf_close(struct btf *b)
{
	bool last;

	if (b == NULL)
		return;
	pthread_mutex_lock(&lock);
	last = b != shared || --users == 0;
	if (last && b == shared)
		shared = NULL;
	pthread_mutex_unlock(&lock);
	if (last)
		destroy(b);
}

/* ---- modules -------------------------------------------------------------------------- */

static int is_module(const struct dirent *d)
{
	return d->d_name[0] != '.' && strcmp(d->d_name, "vmlinux") != 0;
}

static void list_modules(struct btf *b)
{
	struct dirent **names;
	int n = scandir(b->folder, &names, is_module, alphasort);

	b->listed = true;
	for (int i = 0; i < n; i++) {
		add(b, names[i]->d_name); /* out of memory: its types are not known */
		free(names[i]);
	}
	if (n >= 0)
		free(names);
}

unsigned btf_nfiles(struct btf *b)
{
	unsigned n;

	pthread_mutex_lock(&b->lock);
	if (!b->listed)
		list_modules(b);
	n = b->n;
	pthread_mutex_unlock(&b->lock);
	return n;
}

const char *btf_file_name(const struct btf *b, unsigned i)
{
	return b->all[i].name;
}

const struct btf_file *btf_file_at(struct btf *b, unsigned i)
{
	struct one *o;

	if (i > 0 && i >= btf_nfiles(b))
		return NULL;
	pthread_mutex_lock(&b->lock);
	o = &b->all[i];
	if (!o->tried) {
		o->tried = true;
		o->file = open_one(b, o->name, b->all[0].file);
	}
	pthread_mutex_unlock(&b->lock);
	return o->file;
}

/* Symbols and their users write '_' where the name of a module has '-'. */
static bool is_called(const char *name, const char *module)
{
	for (; *name != '\0' && *module != '\0'; name++, module++)
		if (*name != *module && !(strchr("-_", *name) && strchr("-_", *module)))
			return false;
	return *name == *module;
}

bool btf_find(
	struct btf *b, const char *module, const char *name, uint32_t kinds, struct btf_at *at)
{
	const struct btf_file *f;

	if ((module == NULL || is_called("vmlinux", module)) &&
		btf_find_in(b->all[0].file, name, kinds, at))
		return true;
	if (module != NULL && is_called("vmlinux", module))
		return false;
	for (unsigned i = 1; i < btf_nfiles(b); i++)
		if ((module == NULL || is_called(b->all[i].name, module)) &&
			(f = btf_file_at(b, i)) != NULL && btf_find_in(f, name, kinds, at))
			return true;
	return false;
}
