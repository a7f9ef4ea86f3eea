/* SPDX-License-Identifier: Apache-2.0 */
/*
 * BTF types for a program's functions: all take and return numbers of 64 bits. The verifier checks
 * a global function that has a type once, for any arguments, and not again at each call.
 */
#include <linux/bpf.h>
#include <linux/btf.h>
#include <stdlib.h>
#include <string.h>

#include "bpf_call.h"
#include "func_types.h"


/* Types: 1 is the number; then for each function its prototype and itself. */
enum { NUMBER = 1 };
static const char names[] = "\0u64\0a\0clause"; /* and those of functions, which tools show */
enum { NAME_U64 = 1, NAME_ARG = 5, NAME_CLAUSE = 7 };

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

static size_t name_bytes(const struct k_output *p)
{
	size_t n = sizeof(names);

	for (unsigned i = 0; i < p->nparts; i++)
		n += p->parts[i].name != NULL ? strlen(p->parts[i].name) + 1 : 0;
	return n;
}

int k_types(const struct k_output *p, struct et_error *e)
{
	size_t bytes = name_bytes(p), name = sizeof(names);
	size_t most = sizeof(struct btf_header) + 64 + p->nparts * (size_t)(6 + 10) * 4 + bytes;
	char *mem = calloc(1, most);
	struct btf_header *h = (struct btf_header *)(void *)mem;
	struct out o = {.at = (uint32_t *)(void *)(mem + sizeof(*h))};
	union bpf_attr attr = {0};
	char *text;
	int fd;

	if (mem == NULL)
		return et_err(e, ET_NOMEM, "out of memory for the kernel's program");
	put_type(&o, NAME_U64, BTF_KIND_INT, 0, 8);
	put(&o, 64);
	for (unsigned i = 0; i < p->nparts; i++) {
		put_type(&o, 0, BTF_KIND_FUNC_PROTO, p->parts[i].nargs, NUMBER);
		for (unsigned a = 0; a < p->parts[i].nargs; a++) {
			put(&o, NAME_ARG);
			put(&o, NUMBER);
		}
		put_type(&o, p->parts[i].name != NULL ? (uint32_t)name : NAME_CLAUSE, BTF_KIND_FUNC,
			i == 0 ? BTF_FUNC_STATIC : BTF_FUNC_GLOBAL, 2 + 2 * i);
		if (p->parts[i].name != NULL)
			name += strlen(p->parts[i].name) + 1;
	}
	*h = (struct btf_header){.magic = BTF_MAGIC,
		.version = BTF_VERSION,
		.hdr_len = sizeof(*h),
		.type_len = 4 * o.n,
		.str_off = 4 * o.n,
		.str_len = (uint32_t)bytes};
	text = mem + sizeof(*h) + 4 * o.n;
	memcpy(text, names, sizeof(names));
	text += sizeof(names);
	for (unsigned i = 0; i < p->nparts; i++)
		if (p->parts[i].name != NULL)
			text = stpcpy(text, p->parts[i].name) + 1;
	attr.btf = (uint64_t)(uintptr_t)mem;
	attr.btf_size = (uint32_t)(sizeof(*h) + h->type_len + h->str_len);
	fd = k_bpf(BPF_BTF_LOAD, &attr);
	free(mem);
	if (fd < 0)
		return et_err(e, ET_KERNEL, "the kernel refuses the types of a program: %m");
	return fd;
}
