/* SPDX-License-Identifier: Apache-2.0 */
/* A type as C writes it, as in a declaration without a name. */
#include <linux/btf.h>
#include <stdio.h>
#include <string.h>

#include "btf.h"

enum { KIND_TYPE_TAG = 18, KIND_ENUM64 = 19 }; /* newer than the headers may be */
enum { DEEPEST = 16 };

static const char *word_of(unsigned kind)
{
	switch (kind) {
	case BTF_KIND_STRUCT: return "struct ";
	case BTF_KIND_UNION: return "union ";
	case BTF_KIND_ENUM:
	case KIND_ENUM64: return "enum ";
	default: return "";
	}
}

static const char *qualifier(unsigned kind)
{
	return kind == BTF_KIND_CONST ? "const " : kind == BTF_KIND_VOLATILE ? "volatile " : "";
}

/* What a pointer is of, or a value: false if there is no name for it. */
static bool base(struct btf_at at, char *buf, size_t size)
{
	char quals[32] = "";
	struct btf_view v;

	for (int i = 0; i < DEEPEST; i++, at = v.ref) {
		if (!btf_view(at, &v)) {
			snprintf(buf, size, "%svoid", quals);
			return true;
		}
		switch (v.kind) {
		case BTF_KIND_CONST:
		case BTF_KIND_VOLATILE:
			if (strlen(quals) < 20)
				strcat(quals, qualifier(v.kind));
			continue;
		case BTF_KIND_RESTRICT:
		case KIND_TYPE_TAG: continue;
		case BTF_KIND_FWD:
			snprintf(buf, size, "%s%s%s", quals, v.is_union ? "union " : "struct ",
				v.name);
			return true;
		case BTF_KIND_PTR:
		case BTF_KIND_ARRAY:
		case BTF_KIND_FUNC:
		case BTF_KIND_FUNC_PROTO: return false;
		default:
			snprintf(buf, size, "%s%s%s", quals, word_of(v.kind), v.name);
			return *v.name != '\0';
		}
	}
	return false;
}

char *btf_text(struct btf_at at, char *buf, size_t size)
{
	char stars[DEEPEST + 1] = "", name[256];
	unsigned n = 0;
	struct btf_view v;

	/* down to what is no pointer; qualifiers of pointers are of no use to a reader */
	for (struct btf_at in = at; n < DEEPEST && btf_view(in, &v); in = v.ref) {
		if (v.kind == BTF_KIND_PTR) {
			stars[n++] = '*';
			stars[n] = '\0';
			at = v.ref;
		} else if (v.kind != BTF_KIND_CONST && v.kind != BTF_KIND_VOLATILE &&
			   v.kind != BTF_KIND_RESTRICT && v.kind != KIND_TYPE_TAG) {
			break;
		}
	}
	if (!base(at, name, sizeof(name)))
		snprintf(name, sizeof(name), "%s", n > 0 ? "void" : "uintptr_t");
	snprintf(buf, size, "%s%s%s", name, n > 0 ? " " : "", stars);
	return buf;
}
