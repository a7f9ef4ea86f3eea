/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Offsets of members in the running kernel's structures, from its BTF (/sys/kernel/btf/vmlinux).
 * The file is read once, and every number in it is checked.
 */
#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>

#include "array.h"
#include "btf.h"
#include "file.h"

#define MOST (64u << 20) /* bytes of it; they are about 6 MB */

struct k_btf {
	char *file;
	const char *strs;
	uint32_t nstrs;
	const uint32_t **type; /* by id; 0 is void */
	unsigned n;
};

static const struct btf_type *type_of(const struct k_btf *b, uint32_t id)
{
	return id > 0 && id < b->n ? (const struct btf_type *)(const void *)b->type[id] : NULL;
}

static const char *name_of(const struct k_btf *b, uint32_t off)
{
	return off < b->nstrs ? b->strs + off : "";
}

/* Words behind the head of a type. */
static int words_behind(const struct btf_type *t)
{
	unsigned n = BTF_INFO_VLEN(t->info);

	switch (BTF_INFO_KIND(t->info)) {
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG: return 1;
	case BTF_KIND_ARRAY: return 3;
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
	case BTF_KIND_DATASEC:
	case BTF_KIND_ENUM64: return (int)(3 * n);
	case BTF_KIND_ENUM:
	case BTF_KIND_FUNC_PROTO: return (int)(2 * n);
	default: return BTF_INFO_KIND(t->info) <= BTF_KIND_ENUM64 ? 0 : -1;
	}
}

static bool add(struct k_btf *b, const uint32_t *at)
{
	if (!ARRAY_ROOM(b->type, b->n))
		return false;
	b->type[b->n++] = at;
	return true;
}

static bool index_types(struct k_btf *b, size_t size)
{
	const struct btf_header *h = (const struct btf_header *)(const void *)b->file;
	const uint32_t *at, *end;
	int more;

	if (size < sizeof(*h) || h->magic != BTF_MAGIC || h->hdr_len > size ||
		h->hdr_len % 4 != 0 || h->type_off % 4 != 0 || h->type_off > size - h->hdr_len ||
		h->type_len > size - h->hdr_len - h->type_off || h->str_off > size - h->hdr_len ||
		h->str_len > size - h->hdr_len - h->str_off || h->str_len == 0)
		return false;
	b->strs = b->file + h->hdr_len + h->str_off;
	b->nstrs = h->str_len;
	if (b->strs[b->nstrs - 1] != '\0' || !add(b, NULL))
		return false;
	at = (const uint32_t *)(const void *)(b->file + h->hdr_len + h->type_off);
	end = at + h->type_len / 4;
	while (end - at >= 3) {
		more = words_behind((const struct btf_type *)(const void *)at);
		if (more < 0 || end - at - 3 < more || !add(b, at))
			break; /* a kind that is newer than this: what came before is of use */
		at += 3 + more;
	}
	return true;
}

struct k_btf *k_btf_open(void)
{
	struct k_btf *b = calloc(1, sizeof(*b));
	size_t n;

	if (b == NULL || (b->file = file_read("/sys/kernel/btf/vmlinux", MOST, &n)) == NULL ||
		!index_types(b, n)) {
		k_btf_close(b);
		return NULL;
	}
	return b;
}

void k_btf_close(struct k_btf *b)
{
	if (b == NULL)
		return;
	free(b->file);
	free(b->type);
	free(b);
}

static bool is_aggregate(const struct btf_type *t)
{
	return t != NULL && (BTF_INFO_KIND(t->info) == BTF_KIND_STRUCT ||
				    BTF_INFO_KIND(t->info) == BTF_KIND_UNION);
}

/* A member by its name, those of members without a name too. Its type and offset in bytes. */
static const struct btf_member *member(const struct k_btf *b, const struct btf_type *t,
	const char *name, size_t len, uint32_t *off, int deep)
{
	const struct btf_member *m = (const struct btf_member *)(const void *)(t + 1), *found;
	bool fields = BTF_INFO_KFLAG(t->info);

	for (unsigned i = 0; i < BTF_INFO_VLEN(t->info); i++, m++) {
		uint32_t at = (fields ? BTF_MEMBER_BIT_OFFSET(m->offset) : m->offset) / 8;
		const char *is = name_of(b, m->name_off);
		const struct btf_type *in = type_of(b, m->type);

		if (strncmp(is, name, len) == 0 && is[len] == '\0') {
			*off += at;
			return m;
		}
		if (*is == '\0' && is_aggregate(in) && deep < 8) {
			uint32_t inside = *off + at;

			found = member(b, in, name, len, &inside, deep + 1);
			if (found != NULL) {
				*off = inside;
				return found;
			}
		}
	}
	return NULL;
}

/* Behind typedefs and qualifiers. */
static const struct btf_type *plain(const struct k_btf *b, uint32_t id)
{
	const struct btf_type *t = type_of(b, id);

	for (int i = 0; t != NULL && i < 16; i++) {
		unsigned kind = BTF_INFO_KIND(t->info);

		if (kind != BTF_KIND_TYPEDEF && kind != BTF_KIND_CONST &&
			kind != BTF_KIND_VOLATILE && kind != BTF_KIND_RESTRICT &&
			kind != BTF_KIND_TYPE_TAG)
			break;
		t = type_of(b, t->type);
	}
	return t;
}

uint32_t k_btf_offset(const struct k_btf *b, const char *structure, const char *path)
{
	const struct btf_type *t = NULL;
	const struct btf_member *m;
	uint32_t off = 0;
	size_t len;

	for (unsigned i = 1; b != NULL && i < b->n && t == NULL; i++) {
		t = type_of(b, i);
		if (BTF_INFO_KIND(t->info) != BTF_KIND_STRUCT || BTF_INFO_VLEN(t->info) == 0 ||
			strcmp(name_of(b, t->name_off), structure) != 0)
			t = NULL;
	}
	for (; is_aggregate(t); path += len + 1) {
		len = strcspn(path, ".");
		m = member(b, t, path, len, &off, 0);
		if (m == NULL)
			break;
		if (path[len] == '\0')
			return off;
		t = plain(b, m->type);
	}
	return K_NO_OFFSET;
}
