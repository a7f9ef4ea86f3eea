/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BTF types for an image's functions: all take and return numbers of 64 bits. The verifier checks
 * a global function that has a type once, for any arguments, and not again at each call.
 */
#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>

#include "link.h"

/* Types: 1 is the number; then for each function its prototype and itself. */
enum { NUMBER = 1, FIRST_PROTO = 2 };
/* Names: these, that of programs, and those of functions, which tools show. */
static const char names[] = "\0u64\0a";
enum { NAME_U64 = 1, NAME_ARG = 5, NAME_PROGRAMS = sizeof(names) };

struct out {
	uint32_t *at;
	unsigned n;
};

static void put(struct out *o, uint32_t v)
{
	o->at[o->n++] = v;
}

static void put_type(struct out *o, uint32_t name, uint32_t kind, uint32_t vlen, uint32_t type)
{
	put(o, name);
	put(o, kind << 24 | vlen);
	put(o, type);
}

static void put_func(struct out *o, struct ebpf_image *im, unsigned i, size_t name)
{
	struct ebpf_part *p = &im->parts[i];
	unsigned proto = FIRST_PROTO + 2 * i;

	put_type(o, 0, BTF_KIND_FUNC_PROTO, p->nargs, NUMBER);
	for (unsigned a = 0; a < p->nargs; a++) {
		put(o, NAME_ARG);
		put(o, NUMBER);
	}
	put_type(o, (uint32_t)name, BTF_KIND_FUNC,
		i == 0 || p->callback ? BTF_FUNC_STATIC : BTF_FUNC_GLOBAL, proto);
	p->type = proto + 1;
}

static size_t name_bytes(const struct ebpf_image *im, const char *programs)
{
	size_t n = sizeof(names) + strlen(programs) + 1;

	for (unsigned i = 0; i < im->nparts; i++)
		n += im->parts[i].name != NULL ? strlen(im->parts[i].name) + 1 : 0;
	return n;
}

void *ebpf_image_types(
	struct ebpf_image *im, const char *programs, size_t *size, struct et_error *e)
{
	size_t bytes = name_bytes(im, programs), name = sizeof(names) + strlen(programs) + 1;
	size_t most = sizeof(struct btf_header) + 64 + im->nparts * (size_t)(6 + 10) * 4 + bytes;
	char *mem = calloc(1, most), *text;
	struct btf_header *h = (struct btf_header *)(void *)mem;
	struct out o = {.at = (uint32_t *)(void *)(mem + sizeof(*h))};

	if (mem == NULL) {
		et_err(e, ET_NOMEM, "out of memory for the kernel's program");
		return NULL;
	}
	put_type(&o, NAME_U64, BTF_KIND_INT, 0, 8);
	put(&o, 64);
	for (unsigned i = 0; i < im->nparts; i++) {
		put_func(&o, im, i, im->parts[i].name != NULL ? name : NAME_PROGRAMS);
		if (im->parts[i].name != NULL)
			name += strlen(im->parts[i].name) + 1;
	}
	*h = (struct btf_header){.magic = BTF_MAGIC,
		.version = BTF_VERSION,
		.hdr_len = sizeof(*h),
		.type_len = 4 * o.n,
		.str_off = 4 * o.n,
		.str_len = (uint32_t)bytes};
	text = mem + sizeof(*h) + 4 * o.n;
	memcpy(text, names, sizeof(names));
	text = stpcpy(text + sizeof(names), programs) + 1;
	for (unsigned i = 0; i < im->nparts; i++)
		if (im->parts[i].name != NULL)
			text = stpcpy(text, im->parts[i].name) + 1;
	*size = sizeof(*h) + h->type_len + h->str_len;
	return mem;
}
