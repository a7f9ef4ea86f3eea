/* SPDX-License-Identifier: Apache-2.0 */
/* From type to type: what is behind typedefs, how large it is, where members of members are. */
#include <linux/btf.h>
#include <string.h>

#include "btf.h"

enum { KIND_TYPE_TAG = 18, KIND_ENUM64 = 19 }; /* newer than the headers may be */
enum { DEEPEST = 32 };

struct btf_at btf_plain(struct btf_at at)
{
	const uint32_t names = BTF_A(BTF_KIND_TYPEDEF) | BTF_A(BTF_KIND_CONST) |
			       BTF_A(BTF_KIND_VOLATILE) | BTF_A(BTF_KIND_RESTRICT) |
			       BTF_A(KIND_TYPE_TAG);
	struct btf_view v;

	for (int i = 0; i < DEEPEST && btf_view(at, &v) && (names >> v.kind & 1); i++)
		at = v.ref;
	return at;
}

uint32_t btf_size(struct btf_at at)
{
	uint64_t n = 1;
	struct btf_view v;

	for (int i = 0; i < DEEPEST && btf_view(btf_plain(at), &v); i++) {
		if (v.kind != BTF_KIND_ARRAY) {
			n *= v.kind == BTF_KIND_PTR ? 8 : v.size;
			return n <= UINT32_MAX ? (uint32_t)n : 0;
		}
		n *= v.nelems;
		if (n > UINT32_MAX)
			return 0;
		at = v.ref;
	}
	return 0;
}

static bool has_members(struct btf_at at)
{
	struct btf_view v;

	return btf_view(at, &v) && (v.kind == BTF_KIND_STRUCT || v.kind == BTF_KIND_UNION);
}

/* A member by its name, those of members without a name too: its type and offset in bytes. */
static bool member(struct btf_at of, const char *name, size_t len, struct btf_at *type,
	uint32_t *off, int deep)
{
	struct btf_item m;

	for (unsigned i = 0; btf_item(of, i, &m); i++) {
		uint32_t at = *off + (uint32_t)(m.bit_off / 8);

		*type = btf_plain(m.type);
		if (strncmp(m.name, name, len) == 0 && m.name[len] == '\0') {
			*off = at;
			return true;
		}
		if (*m.name == '\0' && deep < 8 && has_members(*type) &&
			member(*type, name, len, type, &at, deep + 1)) {
			*off = at;
			return true;
		}
	}
	return false;
}

uint32_t btf_offset(struct btf *b, const char *structure, const char *path)
{
	uint32_t off = 0;
	struct btf_at at;
	size_t len;

	if (b == NULL || !btf_find(b, "vmlinux", structure, BTF_A(BTF_KIND_STRUCT), &at))
		return BTF_NOWHERE;
	for (;; path += len + 1) {
		len = strcspn(path, ".");
		if (!has_members(at) || !member(at, path, len, &at, &off, 0))
			return BTF_NOWHERE;
		if (path[len] == '\0')
			return off;
	}
}
