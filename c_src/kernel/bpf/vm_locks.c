/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which lock of an Erlang VM does a thread wait for? (probe path)
 *
 * Most locks are mutexes of libc: a thread that sleeps until it gets one is in futex(), with its
 * address. Read-write locks and those of processes are the VM's own. A thread that finds one taken
 * puts an event of its own (ethr_ts_event) into the lock's queue, a ring, and waits for that: it
 * yields some times (sched_yield), then sleeps (futex). A futex is called with the event; where it
 * yields, a register that functions preserve has it. The lock itself is somewhere in these
 * registers or on the thread's stack, among much else. But only one lock has a queue that the event
 * is in. No word is taken for a lock that has not.
 *
 * What the lock is of: a table has a name and a magic reference, which points back to the table; a
 * process begins with its pid; a run queue and its scheduler point to each other.
 *
 * The layouts are those of OTP 25 to 29 on x86-64: erts/include/internal/ethr_mutex.h, ethread.h.
 */
#include "buffer.h"
#include "engine/in_kernel.h"
#include "engine/slot.h"
#include "vm_terms.h"

enum { SCHED_YIELD = 24, FUTEX = 202, FUTEX_OPS = 127, FUTEX_WAIT = 0 };
enum { MUTEX_WAITERS = 2 }; /* the value of a mutex, by which those that wait call futex() */
/* Of the kernel's struct pt_regs. */
enum { REG_DX = 12, REG_SI = 13, REG_DI = 14, REG_NR = 15, REG_SP = 19, REGS = 20 };
enum { PRESERVED = 6 }; /* r15, r14, r13, r12, rbp, rbx: the first there */
enum { STACK = 48 };	/* words of it that are looked at */

/* An event: the next one in the ring, the one before it, the futex, ..., flags. */
enum { EVENT_FUTEX = 16, EVENT_WAITS = 32, EVENT_FLAGS = 40, EVENT_BUSY = 1 << 4 };
/* A lock: flags, a mutex of libc, the queue. */
enum { LOCK_MUTEX = 8, LOCK_QUEUE = 48, LOCK_COUNT = (1 << 27) - 1 };
enum { WAIT_READ = 1 << 29, WAIT_WRITE = 1 << 30 };
enum { RING = 64, PROCESS_RING = 8 }; /* threads that are looked for in a queue */

enum { PROCESS_WORDS = 128, PROCESS_LOCKS = 31 };
enum { BEFORE = 19, AFTER = 64, BINARY = 16 }; /* words around a table's lock; of a reference */
enum { QUEUE_WORDS = 96, SCHEDULER_WORDS = 128, SCHEDULERS = 1024 };
enum { AT = 1024 }; /* in the slot's buffer, after registers and stack */

static inline uint64_t word_at(const char *buf, uint64_t at)
{
	return *(const uint64_t *)(const void *)(buf + bounded(at) / 8 * 8);
}

static inline bool is_pointer(uint64_t word)
{
	return word % 8 == 0 && word > 4096 && word >> 47 == 0;
}

/* What the thread of this event waits for: a flag of locks, or locks of a process; 0: nothing. */
INLINE_HERE uint64_t k_waits_for(uint64_t event)
{
	uint64_t waits, now, what;

	if (!is_pointer(event) || !(user_word(event + EVENT_FLAGS) & EVENT_BUSY))
		return 0;
	waits = user_word(event + EVENT_WAITS);
	now = waits & UINT32_MAX;
	what = waits >> 32;
	if (what == WAIT_READ || what == WAIT_WRITE)
		return now == what ? what : 0;
	return what <= PROCESS_LOCKS && now == 1 ? what : 0;
}

/* Is it a lock in whose queue the event is? */
INLINE_HERE uint64_t k_is_queued(uint64_t lock, uint64_t event, uint64_t flag)
{
	uint64_t flags, at;

	if (!is_pointer(lock))
		return 0;
	flags = user_word(lock) & UINT32_MAX;
	if (!(flags & flag) || (flags & LOCK_COUNT) > UINT16_MAX ||
		(user_word(lock + LOCK_MUTEX) & UINT32_MAX) > 2)
		return 0;
	at = user_word(lock + LOCK_QUEUE);
	for (uint64_t i = unknown_zero(); bounded(i) < RING && is_pointer(at); i++) {
		if (at == event)
			return 1;
		at = user_word(at);
	}
	return 0;
}

/* Is it a process that has a queue in which the event is? */
INLINE_HERE uint64_t k_has_queue(struct en_thread *t, uint64_t process, uint64_t event)
{
	char *buf = k_buffer(t);
	uint64_t at = event;

	if (!is_pointer(process) || (user_word(process) & 15) != 3 ||
		!fetch(buf + AT, process, 8 * PROCESS_WORDS))
		return 0;
	for (uint64_t i = unknown_zero(); bounded(i) < PROCESS_RING && is_pointer(at); i++) {
		for (uint64_t k = unknown_zero(); bounded(k) < PROCESS_WORDS; k++)
			if (word_at(buf, AT + 8 * k) == at)
				return 1;
		at = user_word(at);
	}
	return 0;
}

/* The event by which a thread waits that is in such a system call; 0: it waits for no lock. */
INLINE_HERE uint64_t k_find_event(struct en_thread *t)
{
	const char *buf = k_buffer(t);
	uint64_t nr = word_at(buf, 8 * REG_NR);

	if (nr == FUTEX)
		return word_at(buf, 8 * REG_DI) - EVENT_FUTEX;
	if (nr != SCHED_YIELD)
		return 0;
	for (uint64_t i = unknown_zero(); bounded(i) < PRESERVED; i++) {
		uint64_t event = word_at(buf, 8 * i) - EVENT_FUTEX;

		if (k_waits_for(event) != 0)
			return event;
	}
	return 0;
}

/* The mutex of libc that a thread waits for; 0: it is at something else. */
static inline uint64_t find_mutex(const char *buf)
{
	if (word_at(buf, 8 * REG_NR) != FUTEX ||
		(word_at(buf, 8 * REG_SI) & FUTEX_OPS) != FUTEX_WAIT ||
		(word_at(buf, 8 * REG_DX) & UINT32_MAX) != MUTEX_WAITERS)
		return 0;
	return word_at(buf, 8 * REG_DI) & ~7ULL;
}

/* Is it, or is it within, what the thread of the event waits for? As k_find_lock(). */
INLINE_HERE uint64_t k_lock_at(struct en_thread *t, uint64_t word, uint64_t event, uint64_t what)
{
	if (what <= PROCESS_LOCKS)
		return k_has_queue(t, word, event) ? word + K_LOCK_OF_PROCESS : 0;
	if (k_is_queued(word, event, what))
		return word;
	return k_is_queued(word - LOCK_MUTEX, event, what) ? word - LOCK_MUTEX : 0;
}

/*
 * The address of the lock that the current thread waits for, or of the process whose lock it is,
 * plus K_LOCK_OF_PROCESS; 0: none is known.
 */
INLINE_HERE uint64_t k_find_lock(struct en_thread *t)
{
	uint64_t regs = bpf_task_pt_regs(bpf_get_current_task_btf()), event, what, sp, lock;
	char *buf = k_buffer(t);

	if (t->k.task != 0 ||
		bpf_probe_read_kernel(buf, 8 * REGS, (const void *)(uintptr_t)regs) != 0)
		return 0;
	lock = find_mutex(buf);
	if (lock != 0)
		return lock;
	sp = word_at(buf, 8 * REG_SP);
	event = k_find_event(t);
	what = k_waits_for(event);
	if (what == 0)
		return 0;
	if (!fetch(buf + 8 * PRESERVED, sp, 8 * STACK))
		return 0;
	for (uint64_t i = unknown_zero(); bounded(i) < PRESERVED + STACK; i++) {
		lock = k_lock_at(t, word_at(buf, 8 * i), event, what);
		if (lock != 0)
			return lock;
	}
	return 0;
}

/* ---- what it is of ---------------------------------------------------------------------- */

/* Does one of so many words from `from' on point to one of so many before `end'? */
INLINE_HERE uint64_t k_points_to(uint64_t from, uint64_t words, uint64_t end, uint64_t before)
{
	for (uint64_t i = unknown_zero(); bounded(i) < words; i++) {
		uint64_t to = user_word(from + 8 * i);

		if (is_pointer(to) && to != end && end - to <= 8 * before)
			return 1;
	}
	return 0;
}

/* Of a table: its name, which comes before the reference and the methods. 0: it is no table's. */
INLINE_HERE uint64_t k_table_of(struct en_thread *t, const struct k_vm *vm, uint64_t lock)
{
	char *buf = k_buffer(t);

	if (!fetch(buf, lock, 8 * AFTER))
		return 0;
	for (uint64_t i = unknown_zero(); bounded(i) + 2 < AFTER; i++) {
		uint64_t name = word_at(buf, 8 * i), ref = word_at(buf, 8 * i + 8),
			 methods = word_at(buf, 8 * i + 16);

		if ((name & 0x3f) == 0x0b && is_pointer(ref) &&
			methods - vm->program < vm->program_end - vm->program &&
			k_points_to(ref, BINARY, lock, BEFORE))
			return name;
	}
	return 0;
}

/* Of a run queue, whose lock is its second word: the number of its scheduler. 0: it is none. */
INLINE_HERE uint64_t k_run_queue_of(struct en_thread *t, const struct k_vm *vm, uint64_t lock)
{
	char *buf = k_buffer(t);

	if (!fetch(buf, lock, 8 * QUEUE_WORDS))
		return 0;
	for (uint64_t i = unknown_zero(); bounded(i) < QUEUE_WORDS; i++) {
		uint64_t data = word_at(buf, 8 * i), number;

		if (!is_pointer(data))
			continue;
		number = user_word(data + vm->number);
		if (number - 1 < SCHEDULERS && user_word(data + vm->number + 8) == 0 &&
			k_points_to(data, SCHEDULER_WORDS, lock, 1))
			return number;
	}
	return 0;
}
