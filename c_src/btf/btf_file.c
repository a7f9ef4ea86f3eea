/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One BTF file: mapped, or read where it cannot be mapped. Opening it finds where each type is, and
 * checks that all of it is inside the file; names are put into a hash table when the first is
 * looked for. A file of a module continues that of vmlinux: numbers of types and offsets of names
 * go on where those end.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "array.h"
#include "btf.h"
#include "btf_file.h"
#include "file.h"

enum { MOST = 256 << 20 }; /* bytes of a file; those of vmlinux are about 6 MB */

/* Kinds newer than the headers that this may be built with. */
enum { KIND_DECL_TAG = 17, KIND_TYPE_TAG = 18, KIND_ENUM64 = 19 };

/* What names are looked up of. */
#define NAMED                                                                                      \
	(BTF_A(BTF_KIND_STRUCT) | BTF_A(BTF_KIND_UNION) | BTF_A(BTF_KIND_ENUM) |                   \
		BTF_A(KIND_ENUM64) | BTF_A(BTF_KIND_TYPEDEF) | BTF_A(BTF_KIND_VAR) |               \
		BTF_A(BTF_KIND_FUNC))

struct btf_file {
	char *bytes;
	size_t size;
	bool mapped;
	const char *names; /* ended by a NUL */
	uint32_t nnames;   /* bytes */
	const uint32_t *types;
	uint32_t *at; /* of each type, in words from types on; the first is that of first_id */
	unsigned n;
	uint32_t first_id, first_name; /* 1 and 0, or where the base ends */
	bool cut; /* there is more, of a kind that is newer than this: nothing can continue it */
	const struct btf_file *base;
	pthread_mutex_t lock;	   /* of index, until it is there */
	_Atomic(uint32_t *) index; /* of names: ids, 0: free */
	uint32_t mask;
};

/* ---- opening -------------------------------------------------------------------------- */

static const struct btf_type *type_at(const struct btf_file *f, unsigned i)
{
	return (const struct btf_type *)(const void *)(f->types + f->at[i]);
}

/* Words behind the head of a type; -1: a kind that is not known. */
static int words_behind(const struct btf_type *t)
{
	unsigned n = BTF_INFO_VLEN(t->info), kind = BTF_INFO_KIND(t->info);

	switch (kind) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case KIND_DECL_TAG: return 1;
	case BTF_KIND_ARRAY: return 3;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_DATASEC:
	case KIND_ENUM64: return (int)(3 * n);
	case BTF_KIND_ENUM:
	case BTF_KIND_FUNC_PROTO: return (int)(2 * n);
	default: return kind > 0 && kind < KIND_ENUM64 ? 0 : -1;
	}
}

static bool find_types(struct btf_file *f, size_t nwords)
{
	size_t at = 0;

	while (nwords - at >= 3) {
		int more = words_behind((const struct btf_type *)(const void *)(f->types + at));

		if (more < 0 || nwords - at - 3 < (size_t)more) {
			f->cut = true; /* what came before is of use */
			break;
		}
		if (!ARRAY_ROOM(f->at, f->n)) {
			errno = ENOMEM;
			return false;
		}
		f->at[f->n++] = (uint32_t)at;
		at += 3 + (size_t)more;
	}
	return true;
}

static bool take_apart(struct btf_file *f)
{
	const struct btf_header *h = (const struct btf_header *)(const void *)f->bytes;
	size_t size = f->size;

	errno = EBADMSG;
	if (size < sizeof(*h) || h->magic != BTF_MAGIC || h->hdr_len < sizeof(*h) ||
		h->hdr_len > size || h->hdr_len % 4 != 0 || h->type_off % 4 != 0 ||
		h->type_off > size - h->hdr_len || h->type_len > size - h->hdr_len - h->type_off ||
		h->str_off > size - h->hdr_len || h->str_len > size - h->hdr_len - h->str_off ||
		h->str_len == 0)
		return false;
	f->names = f->bytes + h->hdr_len + h->str_off;
	f->nnames = h->str_len;
	if (f->names[f->nnames - 1] != '\0')
		return false;
	f->types = (const uint32_t *)(const void *)(f->bytes + h->hdr_len + h->type_off);
	return find_types(f, h->type_len / 4);
}

/* Files of sysfs can be mapped from Linux 6.16 on. */
static bool get_bytes(struct btf_file *f, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *map;

	if (fd < 0)
		return false;
	if (fstat(fd, &st) == 0 && st.st_size > 0 && st.st_size <= MOST &&
		(map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)) !=
			MAP_FAILED) {
		f->bytes = map;
		f->size = (size_t)st.st_size;
		f->mapped = true;
	} else {
		f->bytes = file_read_fd(fd, MOST, &f->size);
	}
	close(fd);
	return f->bytes != NULL;
}

struct btf_file *btf_file_open(const char *path, const struct btf_file *base)
{
	struct btf_file *f;

	if (base != NULL && base->cut) {
		errno = EBADMSG;
		return NULL;
	}
	f = calloc(1, sizeof(*f));
	if (f == NULL)
		return NULL;
	pthread_mutex_init(&f->lock, NULL);
	f->base = base;
	f->first_id = base != NULL ? base->first_id + base->n : 1;
	f->first_name = base != NULL ? base->first_name + base->nnames : 0;
	if (get_bytes(f, path) && take_apart(f))
		return f;
	btf_file_close(f);
	return NULL;
}

void btf_file_close(struct btf_file *f)
{
	int error = errno;

	if (f == NULL)
		return;
	if (f->mapped)
		munmap(f->bytes, f->size);
	else
		free(f->bytes);
	free(f->at);
	free(atomic_load(&f->index));
	pthread_mutex_destroy(&f->lock);
	free(f);
	errno = error;
}

/* ---- types by their numbers ----------------------------------------------------------- */

static const char *name_of(const struct btf_file *f, uint32_t off)
{
	while (f->base != NULL && off < f->first_name)
		f = f->base;
	off -= f->first_name;
	return off < f->nnames ? f->names + off : "";
}

/* The file that has it: numbers below its own are those of what it continues. */
static struct btf_at owner(const struct btf_file *f, uint32_t id)
{
	while (f != NULL && f->base != NULL && id < f->first_id)
		f = f->base;
	return (struct btf_at){f, id};
}

static const struct btf_type *type_of(struct btf_at at)
{
	const struct btf_file *f = at.file;

	return f != NULL && at.id >= f->first_id && at.id - f->first_id < f->n
		       ? type_at(f, at.id - f->first_id)
		       : NULL;
}

static const uint32_t *behind(const struct btf_type *t)
{
	return (const uint32_t *)(const void *)(t + 1);
}

bool btf_view(struct btf_at at, struct btf_view *v)
{
	const struct btf_type *t = type_of(at);
	uint32_t data;

	*v = (struct btf_view){.name = ""};
	if (t == NULL)
		return false;
	v->kind = BTF_INFO_KIND(t->info);
	v->name = name_of(at.file, t->name_off);
	v->n = BTF_INFO_VLEN(t->info);
	switch (v->kind) {
	case BTF_KIND_INT:
		data = *behind(t);
		v->size = t->size;
		v->bits = BTF_INT_BITS(data);
		v->bit_off = BTF_INT_OFFSET(data);
		v->is_signed = (BTF_INT_ENCODING(data) & BTF_INT_SIGNED) != 0;
		v->is_bool = (BTF_INT_ENCODING(data) & BTF_INT_BOOL) != 0;
		v->is_char = strcmp(v->name, "char") == 0;
		break;
	case BTF_KIND_ENUM:
	case KIND_ENUM64:
		v->is_signed = BTF_INFO_KFLAG(t->info);
		v->size = t->size;
		break;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_FLOAT: v->size = t->size; break;
	case BTF_KIND_ARRAY:
		v->ref = owner(at.file, behind(t)[0]);
		v->nelems = behind(t)[2];
		break;
	case BTF_KIND_FWD: v->is_union = BTF_INFO_KFLAG(t->info); break;
	default: v->ref = owner(at.file, t->type);
	}
	return true;
}

static void member(
	const struct btf_type *t, unsigned i, struct btf_item *item, uint32_t *type, uint32_t *name)
{
	const uint32_t *m = behind(t) + 3 * i;
	bool fields = BTF_INFO_KFLAG(t->info);

	*name = m[0];
	*type = m[1];
	item->bit_off = fields ? BTF_MEMBER_BIT_OFFSET(m[2]) : m[2];
	item->bits = fields ? BTF_MEMBER_BITFIELD_SIZE(m[2]) : 0;
}

bool btf_item(struct btf_at at, unsigned i, struct btf_item *item)
{
	const struct btf_type *t = type_of(at);
	uint32_t name = 0, type = 0;
	const uint32_t *w;

	*item = (struct btf_item){.name = ""};
	if (t == NULL || i >= BTF_INFO_VLEN(t->info))
		return false;
	w = behind(t);
	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION: member(t, i, item, &type, &name); break;
	case BTF_KIND_ENUM:
		name = w[2 * i];
		item->value = w[2 * i + 1];
		if (BTF_INFO_KFLAG(t->info))
			item->value = (int32_t)w[2 * i + 1];
		break;
	case KIND_ENUM64:
		name = w[3 * i];
		item->value = (int64_t)((uint64_t)w[3 * i + 2] << 32 | w[3 * i + 1]);
		break;
	case BTF_KIND_FUNC_PROTO:
		name = w[2 * i];
		type = w[2 * i + 1];
		break;
	default: return false;
	}
	item->name = name_of(at.file, name);
	item->type = owner(at.file, type);
	return true;
}

/* ---- types by their names ------------------------------------------------------------- */

static uint32_t hash_of(const char *s)
{
	uint32_t h = 2166136261u;

	for (; *s != '\0'; s++)
		h = (h ^ (unsigned char)*s) * 16777619u;
	return h ^ h >> 15;
}

static bool is_named(const struct btf_type *t)
{
	return (NAMED >> BTF_INFO_KIND(t->info) & 1) && t->name_off != 0;
}

/* Types of one name are behind each other in the order of their numbers. */
static uint32_t *make_index(struct btf_file *f)
{
	uint32_t room = 16, *ids;

	while (room < 2 * (uint64_t)f->n)
		room *= 2;
	ids = calloc(room, sizeof(*ids));
	if (ids == NULL)
		return NULL;
	f->mask = room - 1;
	for (unsigned i = 0; i < f->n; i++) {
		const struct btf_type *t = type_at(f, i);
		uint32_t h;

		if (!is_named(t))
			continue;
		for (h = hash_of(name_of(f, t->name_off)) & f->mask; ids[h] != 0;
			h = (h + 1) & f->mask)
			;
		ids[h] = f->first_id + i;
	}
	return ids;
}

static const uint32_t *index_of(struct btf_file *f)
{
	uint32_t *ids = atomic_load(&f->index);

	if (ids != NULL)
		return ids;
	pthread_mutex_lock(&f->lock);
	ids = atomic_load(&f->index);
	if (ids == NULL) {
		ids = make_index(f);
		atomic_store(&f->index, ids);
	}
	pthread_mutex_unlock(&f->lock);
	return ids;
}

/* One that has members is preferred to one of which the file has only that it is empty. */
bool btf_find_in(const struct btf_file *f, const char *name, uint32_t kinds, struct btf_at *at)
{
	const uint32_t *ids = index_of((struct btf_file *)f);
	bool found = false;

	if (ids == NULL || *name == '\0')
		return false;
	for (uint32_t h = hash_of(name) & f->mask; ids[h] != 0; h = (h + 1) & f->mask) {
		const struct btf_type *t = type_of((struct btf_at){f, ids[h]});
		unsigned kind = BTF_INFO_KIND(t->info);

		if (!(kinds >> kind & 1) || strcmp(name_of(f, t->name_off), name) != 0)
			continue;
		if (!found)
			*at = (struct btf_at){f, ids[h]};
		found = true;
		if ((kind != BTF_KIND_STRUCT && kind != BTF_KIND_UNION) ||
			BTF_INFO_VLEN(t->info) > 0) {
			*at = (struct btf_at){f, ids[h]};
			break;
		}
	}
	return found;
}

void btf_each(const struct btf_file *f, uint32_t kinds,
	bool (*cb)(void *arg, struct btf_at at, const char *name), void *arg)
{
	for (unsigned i = 0; i < f->n; i++) {
		const struct btf_type *t = type_at(f, i);

		if ((kinds >> BTF_INFO_KIND(t->info) & 1) &&
			!cb(arg, (struct btf_at){f, f->first_id + i}, name_of(f, t->name_off)))
			return;
	}
}

struct section {
	uint32_t id;
	bool has;
};

static bool has_variable(void *arg, struct btf_at at, const char *name)
{
	const struct btf_type *t = type_of(at);
	struct section *s = arg;

	if (strcmp(name, ".data..percpu") != 0)
		return true;
	for (unsigned i = 0; i < BTF_INFO_VLEN(t->info); i++)
		s->has |= behind(t)[3 * i] == s->id;
	return true;
}

bool btf_is_per_cpu(struct btf_at at)
{
	struct section s = {.id = at.id};

	btf_each(at.file, BTF_A(BTF_KIND_DATASEC), has_variable, &s);
	return s.has;
}
