/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Firings that the kernel left out: it runs no program inside of itself on the same CPU, such as at
 * an event of its own making or of an interrupt. It counts them, for programs and for links of many
 * functions; here they become drops.
 */
#include <linux/bpf.h>
#include <stdlib.h>

#include "array.h"
#include "bpf_call.h"
#include "engine/state.h"
#include "engine/tables/counter.h"
#include "kernel.h"
#include "missed.h"

/* The part of struct bpf_link_info for these links, which headers may be too old for. */
struct link_info {
	uint32_t type, id, prog_id, pad;
	union {
		struct {
			uint64_t addrs;
			uint32_t count, flags;
			uint64_t missed;
		} multi;
		struct {
			uint32_t kind, pad;
			uint64_t name;
			uint32_t name_len, offset;
			uint64_t addr, missed;
		} event;
		uint64_t room[8];
	};
};
enum { LINK_KPROBE_MULTI = 8 };

struct k_teller {
	int fd;
	bool is_link;
	uint64_t told;
};

bool k_count_missed(struct kernel *k, int fd, bool is_link)
{
	if (!ARRAY_ROOM(k->tellers, k->ntellers))
		return false;
	k->tellers[k->ntellers++] = (struct k_teller){.fd = fd, .is_link = is_link};
	return true;
}

static uint64_t missed_of(const struct k_teller *t)
{
	struct bpf_prog_info prog = {0};
	struct link_info link = {0};
	union bpf_attr attr = {.info = {.bpf_fd = (uint32_t)t->fd}};

	attr.info.info = (uint64_t)(t->is_link ? (uintptr_t)&link : (uintptr_t)&prog);
	attr.info.info_len = t->is_link ? sizeof(link) : sizeof(prog);
	if (k_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr) < 0)
		return t->told;
	if (!t->is_link)
		return prog.recursion_misses;
	return link.type == LINK_KPROBE_MULTI ? link.multi.missed : link.event.missed;
}

int k_look_missed(struct en *en, void *data, struct et_error *e)
{
	struct kernel *k = en->kernel;

	(void)data;
	(void)e;
	for (unsigned i = 0; k != NULL && i < k->ntellers; i++) {
		struct k_teller *t = &k->tellers[i];
		uint64_t now = missed_of(t);

		count_add(&en->missed, now - t->told);
		t->told = now;
	}
	return 0;
}

void k_forget_missed(struct en *en)
{
	k_look_missed(en, NULL, NULL);
	if (en->kernel != NULL)
		en->kernel->ntellers = 0;
}
