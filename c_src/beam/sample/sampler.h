/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile-N inside a node: every scheduler is interrupted by its CPU time, and says what it was at.
 *
 *   sampler_fire.c	the sampler of the profile provider: scripts that sample, the thread that fires
 *   sampler_handler.c  the signal handler, which leaves samples in the ring of its thread
 *   sampler_timers.c   the signal, the threads and their timers
 *   sampler_find.c     where the VM keeps what the handler reads; found and checked once in a node
 *   sampler_frames.c   the frames of a sample
 *   sampler_current.c  what scripts ask of it (probe path)
 *   sampler_wall.c     profile-wall-N: processes that are asked
 *
 * Everything but the handler runs under one lock, that of sampler_fire.c.
 *
 */
#ifndef BEAM_SAMPLER_H
#define BEAM_SAMPLER_H

#include <erl_nif.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "beam/vm/facts.h"

#pragma GCC visibility push(hidden)

struct beam_handle;
struct et_error;

/* ---- what was found out (sampler_find.c) ----------------------------------------------- */

/* Offsets are in words. */
struct sampler_facts {
	/* thread-specific: the scheduler's data. Its first word: the registers */
	pthread_key_t key;
	uint32_t process;  /* of that: the process that runs; then its type, its number */
	uint32_t heap, htop, stop, end; /* of a process: the heap, with the stack at its end */
	uint32_t current;  /* of a process: M, F, A of the NIF that was called */
	uint32_t i;	   /* of a process: its code; of a dirty NIF M, F, A lie in front of it; 0: unknown */
	uint32_t export;   /* of an export: its M, F, A */
	uint32_t flags;	   /* of a process: a word with the flag that it is sensitive ... */
	uintptr_t sensitive; /* ... and the flag */
	uintptr_t ret_nif, ret_bif, ret_gc; /* where the JIT calls these: return addresses */
	uintptr_t ret_slow_bif; /* of BIFs that are called like NIFs, when they go on; or 0 */
	uintptr_t normal_exit; /* the oldest word of every stack */
};
extern struct sampler_facts sampler_facts;
extern const struct find_fact sampler_fact;
bool sampler_known(void);
void sampler_forget(void); /* search again, if no dirty scheduler could be looked at */
const char *sampler_refusal(void);

/* ---- code (sampler_handler.c) ---------------------------------------------------------- */

#define SAMPLER_RANGES 256
/* The executable mappings of the JIT; read by handlers while they are replaced. */
struct sampler_ranges {
	unsigned n;
	struct sampler_range {
		uintptr_t from, to;
	} all, of[SAMPLER_RANGES]; /* all: from the first to the last */
};
void sampler_set_ranges(const struct sampler_ranges *r);
/* Bytes of code from here to the end of the mapping; 0: it is no code of the JIT. */
size_t sampler_code(uintptr_t at);
/*
 * Does this address follow a call? *target: the function of the VM that was called, or 0. (handler)
 */
bool sampler_after_call(uintptr_t ret, uintptr_t *target);

/* ---- samples --------------------------------------------------------------------------- */

enum sampler_kind {
	SAMPLED_NOTHING, /* no process runs */
	SAMPLED_JIT,	 /* code of the JIT */
	SAMPLED_C,	 /* what that has called */
	SAMPLED_DIRTY,	 /* on a dirty scheduler */
};

#define SAMPLER_FRAMES 255 /* of a sample, at most */
/* A sample as it lies in a ring, in front of its frames. */
struct sampler_head {
	uint16_t nframes;
	bool own;	/* of a process that is not to be seen: erltrace's are not */
	uint32_t times; /* periods of the timer that it stands for */
	uint64_t period; /* ns */
	uintptr_t pid, name; /* terms, or 0 */
	uintptr_t pc;	   /* what was interrupted */
	const char *state; /* the text of erlstate */
};
#define SAMPLER_HEAD (sizeof(struct sampler_head) / sizeof(uintptr_t))

#define SAMPLER_RING   16384 /* words; a power of two */
#define SAMPLER_STACK  8192  /* words of a stack that are looked at, */
#define SAMPLER_OLDEST 2048  /* of which so many are its oldest ones, if it has more */
#define SAMPLER_PROC   96    /* words of a process */
/* What the handler sees, before it becomes a sample. */
struct sampler_seen {
	enum sampler_kind kind;
	unsigned raw;	  /* so many of the words need not be aligned */
	unsigned cut;	  /* before this word of the stack some are left out; 0: none are */
	uintptr_t pc;
	/* in C code: the return address of the call out of the JIT's code, or 0 */
	uintptr_t called;
	uintptr_t i;	  /* of a dirty one: the process's code */
	uintptr_t mfa[3]; /* of what was called; or 0 */
	unsigned nwords;  /* that may be return addresses, the newest first, with those that repeat */
	uintptr_t words[SAMPLER_FRAMES];
	uint32_t times[SAMPLER_FRAMES];
};
struct sampler_thread {
	pid_t tid;
	int type;      /* 0: normal; 1, 2: dirty CPU, dirty I/O */
	unsigned sched; /* its number, as erlsched */
	bool armed;
	timer_t timer;
	_Atomic bool live;    /* its signals are samples */
	_Atomic bool inside;  /* it is in the handler */
	_Atomic bool foreign; /* it has a scheduler's name, and is none */
	/* the handler writes head, the reader tail */
	_Alignas(64) _Atomic uint64_t head;
	_Atomic uint64_t drops; /* samples that found the ring full */
	_Atomic uint64_t took;	/* ns that the handler has run */
	_Alignas(64) _Atomic uint64_t tail;
	uint64_t told; /* of the drops */
	uint64_t paid; /* of what it took */
	_Alignas(64) uintptr_t ring[SAMPLER_RING];
	/* the handler's */
	uintptr_t proc[SAMPLER_PROC], stack[SAMPLER_STACK];
	struct sampler_seen seen;
	uint64_t frames[SAMPLER_FRAMES];
};

/* ---- the handler ----------------------------------------------------------------------- */

#define SAMPLER_THREADS 2048
extern _Atomic(struct sampler_thread *) sampler_threads[SAMPLER_THREADS]; /* by a timer's value */
extern _Atomic unsigned sampler_nthreads;
extern _Atomic uint64_t sampler_period; /* ns, of all timers */
extern _Atomic bool sampler_names;	/* registered names are wanted */
extern _Atomic bool sampler_stacks, sampler_lines; /* stacks are wanted, and with lines */
extern _Atomic uintptr_t sampler_ret_schedule; /* return address of the call of the scheduler; 0 */
extern pid_t sampler_pid;
void sampler_on_signal(int sig, siginfo_t *si, void *context);
bool sampler_read(void *to, uintptr_t from, size_t n); /* memory that may not be there */

/* ---- timers (sampler_timers.c) --------------------------------------------------------- */

int sampler_arm(uint64_t period, struct et_error *e); /* or change the period */
void sampler_disarm(void);
int sampler_signal(void); /* 0: none has been taken */
void sampler_look(void); /* each second: threads that are none of the VM's */
void sampler_find_ranges(uintptr_t in); /* code mapped like this address */
void sampler_unload(void); /* the library goes: no signal of ours may end the VM */

/* ---- frames (sampler_frames.c) --------------------------------------------------------- */

/* What it was at: the text of erlstate. (handler) */
const char *sampler_state(const struct sampler_seen *s);
/* Frames for ustack(), the newest first. (handler) */
unsigned sampler_frames(const struct sampler_seen *s, const char *state, uint64_t *frames,
	unsigned max, bool lines);

/* ---- scripts (sampler_fire.c) -------------------------------------------------------------- */

extern const struct en_sampler beam_sampler;
bool sampler_init(void); /* at load */
void sampler_code_changed(void); /* code was loaded, perhaps to where there was none before */
struct prog;
/* does it have a profile-N that reads what it interrupts? */
bool sampler_wanted(const struct prog *prog);
/* Take samples for the self-test; call for each with the lock held. */
int sampler_test_start(struct et_error *e);
void sampler_test_stop(void);
void sampler_hold(bool on); /* nobody reads the rings */
typedef void (*sampler_cb)(void *arg, const struct sampler_thread *t, const struct sampler_head *h,
	const uint64_t *frames);
void sampler_test_read(sampler_cb cb, void *arg);

#pragma GCC visibility pop
#endif
