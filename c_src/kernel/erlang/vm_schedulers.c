/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the threads of an Erlang VM tell what process they run, found from outside and without
 * symbols. A scheduler has a pointer to its data in its thread-specific data, which libc keeps in
 * the thread's descriptor: where the thread pointer (fs) points to. The descriptor of a thread that
 * waits is above its stack pointer: it begins with its own address and has the thread's number. The
 * scheduler's data has the process that runs, and after it what kind of scheduler it is and its
 * number, which the thread's name tells too. The pair of offsets must be the same in all of them.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "file.h"
#include "proc_file.h"
#include "symbols/vm.h"
#include "vm_schedulers.h"

enum {
	USUAL_STACK = 64 << 10,
	MAX_STACK = 2 << 20, /* bytes from the stack pointer to the descriptor */
	PAGE = 4096,
	DESCRIPTOR = 2304, /* bytes of it that are looked at */
	WORDS = 128,	   /* of a scheduler's data */
	FIRST = 8,	   /* of these that can be the process: registers, timers ... come before */
	FEWEST = 3,	   /* threads that tell the same */
	MAX_THREADS = 4096,
	MAX_FILE = 4096,
	PID_MASK = 15,
	PID_TAG = 3,
};
enum kind { NORMAL, DIRTY_CPU, DIRTY_IO };

struct thread {
	int tid;
	enum kind kind;
	unsigned number;
};

/* Votes for each pair of offsets: where the data is, and where the process in it. */
struct votes {
	uint16_t n[DESCRIPTOR / 8][WORDS];
	unsigned threads; /* that have voted */
};

/* ---- names ---------------------------------------------------------------------------- */

/* Names are cut at 15 characters; the first form is that of OTP 25 and before. */
static bool parse_name(const char *name, struct thread *t)
{
	static const struct {
		const char *format;
		enum kind kind;
	} forms[] = {{"%u_scheduler%n", NORMAL}, {"%u_dirty_cpu_sch%n", DIRTY_CPU},
		{"%u_dirty_io_sch%n", DIRTY_IO}, {"erts_sched_%u%n", NORMAL},
		{"erts_dcpus_%u%n", DIRTY_CPU}, {"erts_dios_%u%n", DIRTY_IO}};

	for (unsigned i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		int end = 0;

		/* NOLINTNEXTLINE(clang-diagnostic-format-nonliteral) */
		if (sscanf(name, forms[i].format, &t->number, &end) == 1 && end > 0) {
			t->kind = forms[i].kind;
			return t->number > 0;
		}
	}
	return false;
}

static bool read_thread(int pid, int tid, struct thread *t)
{
	char path[64], *name;
	bool found;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", pid, tid);
	name = file_read(path, MAX_FILE, &n);
	t->tid = tid;
	found = name != NULL && parse_name(name, t);
	free(name);
	return found;
}

/* ---- descriptors ---------------------------------------------------------------------- */

/* The stack pointer of a thread that waits in a system call; 0: it runs. */
static uint64_t stack_pointer(int pid, int tid)
{
	char path[64], *text;
	uint64_t sp = 0;
	size_t n;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/syscall", pid, tid);
	text = file_read(path, MAX_FILE, &n);
	if (text == NULL || sscanf(text, "%*s %*s %*s %*s %*s %*s %*s %" SCNx64, &sp) != 1)
		sp = 0;
	free(text);
	return sp & ~UINT64_C(7);
}

static bool has_tid(const uint64_t *w, size_t n, int tid)
{
	const int32_t *p = (const int32_t *)w;

	for (size_t i = 0; i < 2 * n; i++)
		if (p[i] == tid)
			return true;
	return false;
}

/* What is there from an address on, up to the next page that cannot be read: words. */
static size_t read_pages(const struct vm *vm, uint64_t at, uint64_t *to, size_t most)
{
	size_t done = 0, part = PAGE - at % PAGE;

	while (done + part <= most && vm_read(vm, at + done, (char *)to + done, part)) {
		done += part;
		part = PAGE;
	}
	return done / 8;
}

/* Copy the descriptor: it has its own address in the words 0 and 2 (tcbhead_t). */
static bool find_descriptor(const struct vm *vm, uint64_t sp, int tid, size_t most, uint64_t *to)
{
	uint64_t *w = malloc(most);
	size_t n = w != NULL ? read_pages(vm, sp, w, most) : 0;
	bool found = false;

	for (size_t i = 0; i + 3 <= n && !found; i++) {
		size_t left = n - i < DESCRIPTOR / 8 ? n - i : DESCRIPTOR / 8;

		if (w[i] == sp + 8 * i && w[i + 2] == w[i] && has_tid(w + i, left, tid)) {
			memset(to, 0, DESCRIPTOR);
			memcpy(to, w + i, 8 * left);
			found = true;
		}
	}
	free(w);
	return found;
}

/* A thread that waits has used little of its stack. */
static bool read_descriptor(const struct vm *vm, int pid, const struct thread *t, uint64_t *to)
{
	uint64_t sp = stack_pointer(pid, t->tid);
	int tid = fi_own_pid(t->tid);

	return sp != 0 && (find_descriptor(vm, sp, tid, USUAL_STACK, to) ||
				  find_descriptor(vm, sp, tid, MAX_STACK, to));
}

/* ---- schedulers ----------------------------------------------------------------------- */

/* The process, what kind of scheduler it is, and its number as a normal or as a dirty one. */
static bool fits(const struct vm *vm, const struct thread *t, const uint64_t *w)
{
	uint64_t id = PID_TAG;

	if ((uint32_t)w[1] != (uint32_t)t->kind || w[2] != (t->kind == NORMAL ? t->number : 0) ||
		w[3] != (t->kind == NORMAL ? 0 : t->number))
		return false;
	return w[0] == 0 ||
	       (w[0] % 8 == 0 && vm_read(vm, w[0], &id, sizeof(id)) && (id & PID_MASK) == PID_TAG);
}

static void vote(const struct vm *vm, int pid, const struct thread *t, struct votes *v)
{
	uint64_t descriptor[DESCRIPTOR / 8], w[WORDS];
	bool any = false;

	if (!read_descriptor(vm, pid, t, descriptor))
		return;
	for (unsigned o = 3; o < DESCRIPTOR / 8; o++) {
		if (descriptor[o] % 8 != 0 || descriptor[o] < 4096 ||
			!vm_read(vm, descriptor[o], w, sizeof(w)))
			continue;
		for (unsigned k = FIRST; k + 4 <= WORDS; k++)
			if (fits(vm, t, w + k)) {
				v->n[o][k]++;
				any = true;
			}
	}
	v->threads += any;
}

/* Threads that only have a scheduler's name, as those that a NIF starts, have no vote. */
static bool elect(const struct votes *v, struct vm_schedulers *found)
{
	unsigned winners = 0;

	for (unsigned o = 0; o < DESCRIPTOR / 8; o++)
		for (unsigned k = 0; k < WORDS; k++)
			if (v->threads >= FEWEST && v->n[o][k] == v->threads) {
				*found = (struct vm_schedulers){8 * o, 8 * k, 8 * (k + 2)};
				winners++;
			}
	return winners == 1;
}

bool vm_schedulers_find(const struct vm *vm, int pid, struct vm_schedulers *found)
{
	struct votes *v = calloc(1, sizeof(*v));
	char path[64];
	struct thread t;
	unsigned n = 0;
	bool told;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	d = opendir(path);
	for (const struct dirent *de; v != NULL && d != NULL && (de = readdir(d)) != NULL;)
		if (atoi(de->d_name) > 0 && n++ < MAX_THREADS && v->threads < UINT16_MAX &&
			read_thread(pid, atoi(de->d_name), &t))
			vote(vm, pid, &t, v);
	if (d != NULL)
		closedir(d);
	told = v != NULL && elect(v, found);
	free(v);
	return told;
}
