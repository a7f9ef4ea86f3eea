/* SPDX-License-Identifier: Apache-2.0 */
/* Terms of an Erlang VM: vm_terms.c. */
#ifndef K_VM_TERMS_H
#define K_VM_TERMS_H

#include "engine/fire.h"
#include "task.h"

static inline uint64_t user_word(uint64_t addr)
{
	uint64_t v = 0;

	bpf_probe_read_user(&v, sizeof(v), (const void *)(uintptr_t)addr);
	return v;
}

/* What a VM's thread says it is, at this distance in its own memory: a scheduler's data, or 0. */
static inline uint64_t thread_data(uint32_t distance)
{
	uint64_t base = task_u64(bpf_get_current_task(), k_root.off.fsbase);

	return distance != 0 && base != 0 ? user_word(base + distance) : 0;
}

/* Whose self-> variables: an Erlang process's of this VM. */
static inline uint64_t process_key(uint64_t term)
{
	uint64_t pid = bpf_get_current_pid_tgid() >> 32;

	return (term ^ pid << 32) * 0x9e3779b97f4a7c15ULL | 1ULL << 63;
}

/* Locks: vm_locks.c. */
enum { K_LOCK_OF_PROCESS = 1 };
uint64_t k_find_lock(struct en_thread *t);
uint64_t k_table_of(struct en_thread *t, const struct k_vm *vm, uint64_t lock);
uint64_t k_run_queue_of(struct en_thread *t, const struct k_vm *vm, uint64_t lock);

uint64_t k_put_number(uint64_t to, uint64_t v);
uint64_t k_put_atom(struct fire *f, uint64_t to, uint64_t end, uint64_t term);
uint64_t k_put_simple(struct fire *f, uint64_t to, uint64_t end, uint64_t term);
uint64_t k_put_term(struct fire *f, uint64_t to, uint64_t end, uint64_t term);

#endif
