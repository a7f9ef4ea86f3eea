/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of keys of aggregations and dynamic variables. */
#include "key.h"
#include "prog/prog.h"

void en_key_init(struct en_key *k, const struct prog_val *keys, unsigned n, bool self)
{
	struct ebpf_keypart part[EBPF_MAX_KEYS];

	*k = (struct en_key){.n = (uint8_t)n, .self = self, .fixed = self ? 8 : 0};
	prog_key_parts(keys, n, part);
	for (unsigned i = 0; i < n; i++) {
		k->kind[i] = part[i].kind;
		k->size[i] = part[i].kind == EBPF_MEM ? part[i].size : 8;
		k->nstr += part[i].kind == EBPF_STR;
		k->fixed += part[i].kind == EBPF_STR ? 4 : k->size[i];
	}
}
