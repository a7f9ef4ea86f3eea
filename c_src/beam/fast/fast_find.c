/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The finder of the fast way (not on the probe path). The code of the JIT is looked at in these
 * places:
 *
 *   a function's entry	   EB 06 ?? E8 rel32: a breakpoint makes it call a trampoline, that of its
 *			   module up to OTP 26, one for all since. M, F and A lie in front of it.
 *   the breakpoint	   the fragment that the trampoline calls. It calls erts_generic_breakpoint()
 *			   through a word, and reloads three registers from the process then: there the
 *			   offsets of stop, htop and fcalls are read.
 *   exceptions, garbage   two more fragments near it, each found exactly once, which call
 *			   handle_error() and erts_garbage_collect_nobump()
 *   the return fragment   where a frame of call_time returns to: seen on the stack of a process that
 *			   is counted so
 *
 * The words of these calls must lie in the JIT's memory, aligned; must have a second mapping that
 * can be written, with the same contents; and must point into the text of the VM: else somebody
 * else is there before us. Where the VM shows its symbols they must agree.
 *
 * Every byte of code goes through byte(), every word of a process, its stack and the JIT's table
 * through look(), every mapping through read_maps(): a test changes each of them and sees it
 * refused.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "beam/atoms.h"
#include "compiler.h"
#include "fast_find.h"

#define ENV_PROC  1    /* word of an environment: the process */
#define HTOP	  80   /* of the process, in every release we know */
#define STOP	  88
#define INFO	  0x28 /* bytes from a function's M, F, A to its entry, with two words before them */
#define FRAGMENT  96   /* bytes of a fragment that are looked at */
#define AROUND	  65536
#define PROC_FROM 0x60 /* words of a process that are looked at for what is calibrated */
#define PROC_WORDS 64
#define MOST_MAPS 8192

struct mapping {
	uintptr_t from, to, offset;
	uint64_t inode;
	unsigned major, minor;
	char perms[5], name[64];
};

static struct mapping *maps;
static int nmaps;
/*
 * Of tests: how many bytes and words were read, and which is another; which mappings are, and how.
 */
static uint64_t nbytes, flip, nwords, spoil;
static const char *spoilt_maps;
static enum fast_map_fault map_fault;
static const uintptr_t elsewhere[8]; /* no code, no function of the VM, no stack */

struct find fast_search;
#define no(...) find_no(&fast_search, __VA_ARGS__)

/* ---- what is read ---------------------------------------------------------------------- */

void fast_find_flip(uint64_t n)
{
	nbytes = 0;
	flip = n;
}

uint64_t fast_find_bytes(void)
{
	return nbytes;
}

void fast_find_spoil(uint64_t n)
{
	nwords = 0;
	spoil = n;
}

uint64_t fast_find_words_read(void)
{
	return nwords;
}

void fast_find_maps(const char *perms, enum fast_map_fault fault)
{
	spoilt_maps = perms;
	map_fault = fault;
}

static uint8_t byte(const uint8_t *p)
{
	return ++nbytes == flip ? *p ^ 0xff : *p;
}

static uintptr_t look(const uintptr_t *p)
{
	return ++nwords == spoil ? (uintptr_t)elsewhere : *p;
}

static int32_t rel32(const uint8_t *p)
{
	uint32_t v = 0;

	for (int i = 0; i < 4; i++)
		v |= (uint32_t)byte(p + i) << 8 * i;
	return (int32_t)v;
}

/* ---- mappings -------------------------------------------------------------------------- */

/* As a test wants it; false: it is not there. */
static bool spoil_map(struct mapping *m)
{
	if (spoilt_maps == NULL || strcmp(spoilt_maps, m->perms) != 0)
		return true;
	m->inode += map_fault == MAP_OF_OTHER_FILE;
	m->offset += map_fault == MAP_ELSEWHERE ? 4096 : 0;
	return map_fault != MAP_MISSING;
}

/* Why they cannot be read; NULL: they are there. */
static const char *read_maps(void)
{
	FILE *file = fopen("/proc/self/maps", "re");
	char line[512];

	if (maps == NULL)
		maps = malloc(MOST_MAPS * sizeof(*maps));
	if (file == NULL || maps == NULL) {
		if (file != NULL)
			fclose(file);
		return "/proc/self/maps cannot be read";
	}
	nmaps = 0;
	while (nmaps < MOST_MAPS && fgets(line, sizeof(line), file) != NULL) {
		struct mapping *m = &maps[nmaps];

		m->name[0] = '\0';
		if (sscanf(line, "%lx-%lx %4s %lx %x:%x %lu %63[^\n]", &m->from, &m->to, m->perms,
			    &m->offset, &m->major, &m->minor, &m->inode, m->name) < 7)
			continue;
		if (spoil_map(m))
			nmaps++;
	}
	fclose(file);
	return nmaps < MOST_MAPS ? NULL : "too many mappings";
}

static bool have_maps(void)
{
	const char *why = read_maps();

	return why == NULL || no("%s", why);
}

static const struct mapping *map_of(uintptr_t at)
{
	for (int i = 0; i < nmaps; i++)
		if (at >= maps[i].from && at < maps[i].to)
			return &maps[i];
	return NULL;
}

/* The JIT's code: executable, in a file of memory that is mapped twice. */
static const struct mapping *in_jit(const void *p)
{
	const struct mapping *m = map_of((uintptr_t)p);

	return m != NULL && m->perms[2] == 'x' && strstr(m->name, "vmem") != NULL ? m : NULL;
}

/* The same, or memory without a file that is mapped once (+JMsingle): enough to look for code. */
static const struct mapping *in_any_jit(const void *p)
{
	const struct mapping *m = map_of((uintptr_t)p);

	return m != NULL && m->perms[2] == 'x' && m->inode == 0 ? m : in_jit(p);
}

static bool in_code(const uint8_t *p, size_t n)
{
	const struct mapping *m = in_jit(p);

	return m != NULL && m->to - (uintptr_t)p >= n;
}

/* The text of the VM: of the file that the functions which NIFs call are in. */
static bool in_vm(uintptr_t p)
{
	const struct mapping *m = map_of(p), *vm = map_of((uintptr_t)enif_self);

	return m != NULL && vm != NULL && m->perms[2] == 'x' && m->perms[1] != 'w' &&
	       vm->inode != 0 && m->inode == vm->inode && m->major == vm->major &&
	       m->minor == vm->minor;
}

static bool word_ok(struct core_word *w, uintptr_t function, const char *what)
{
	const struct mapping *m = in_jit(w->at);
	uintptr_t offset;

	if (m == NULL || ((uintptr_t)w->at & 7) != 0)
		return no("%s: its word is not in the JIT's memory", what);
	if (!in_vm(function))
		return no("%s: its word does not point into the VM: somebody else has changed it",
			what);
	offset = (uintptr_t)w->at - m->from + m->offset;
	for (int i = 0; i < nmaps; i++) {
		const struct mapping *k = &maps[i];

		if (k->perms[1] != 'w' || k->perms[2] == 'x' || k->perms[3] != 's' ||
			k->inode != m->inode || k->major != m->major || k->minor != m->minor ||
			offset < k->offset || offset - k->offset >= k->to - k->from)
			continue;
		w->writable = (uintptr_t *)(k->from + (offset - k->offset));
		if (look(w->writable) == *w->at)
			return true;
	}
	return no("%s: its word has no mapping that can be written", what);
}

/* ---- code ------------------------------------------------------------------------------ */

#define ANY 0x100

static bool is_code(const uint8_t *p, const uint16_t *pattern, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		if (pattern[i] != ANY && byte(p + i) != pattern[i])
			return false;
	return true;
}
#define IS_CODE(p, pattern) is_code(p, pattern, sizeof(pattern) / sizeof((pattern)[0]))

/* The word of `call *disp(%rip)` at p. */
static uintptr_t *word_of(const uint8_t *p)
{
	return (uintptr_t *)(uintptr_t)(p + 6 + rel32(p + 2));
}

/* Where a call or jump at p leads to; NULL: it is none, or out of the JIT's code. */
static const uint8_t *target(const uint8_t *p)
{
	const uint8_t *to = NULL;
	const uintptr_t *word;

	if (byte(p) == 0x40) /* a prefix that aligns it */
		p++;
	if (byte(p) == 0xe8 || byte(p) == 0xe9)
		to = p + 5 + rel32(p + 1);
	else if (byte(p) == 0xff && (byte(p + 1) == 0x15 || byte(p + 1) == 0x25) &&
		 in_jit(word = word_of(p)) != NULL)
		to = (const uint8_t *)look(word);
	return to != NULL && in_code(to, FRAGMENT) ? to : NULL;
}

/* The only place around `near` that is so; NULL: there is none, or more than one. */
static const uint8_t *only_place(const uint8_t *near, const uint16_t *pattern, unsigned n)
{
	const struct mapping *m = in_any_jit(near);
	uintptr_t from = (uintptr_t)near, to = from, hit = 0;

	from = from - m->from > AROUND ? from - AROUND : m->from;
	to = m->to - to > AROUND ? to + AROUND : m->to;
	for (uintptr_t at = from; at + n + 8 < to; at++) {
		/* what does not begin so is no match whatever a test changes */
		if (*(const uint8_t *)at != pattern[0] || !is_code((const uint8_t *)at, pattern, n))
			continue;
		if (hit != 0)
			return NULL;
		hit = at;
	}
	return (const uint8_t *)hit;
}

/* Where the VM shows its symbols they must agree. */
static bool symbol_ok(uintptr_t function, const char *name, const char *other)
{
	void *s = dlsym(RTLD_DEFAULT, name);

	if (s == NULL && other != NULL)
		s = dlsym(RTLD_DEFAULT, other);
	return s == NULL || (uintptr_t)s == function;
}

/* pop 0x??(%rbx); pop %rsi; mov %rsi,0x??(%rbx); sub $0x30,%rsi */
static const uint16_t breakpoint_start[] = {
	0x8f, 0x43, ANY, 0x5e, 0x48, 0x89, 0x73, ANY, 0x48, 0x83, 0xee, 0x30};
/* mov %r13,%rdi; mov %rbx,%rdx; call *disp(%rip) */
static const uint16_t call_entry[] = {0x4c, 0x89, 0xef, 0x48, 0x89, 0xda, 0xff, 0x15};
/* test $3,%esi, in one of two ways; jne; then the same */
static const uint16_t call_error[] = {
	0xf7, 0xc6, 3, 0, 0, 0, 0x75, ANY, 0x4c, 0x89, 0xef, 0x48, 0x89, 0xda, 0xff, 0x15};
static const uint16_t call_error_short[] = {
	0x40, 0xf6, 0xc6, 3, 0x75, ANY, 0x4c, 0x89, 0xef, 0x48, 0x89, 0xda, 0xff, 0x15};
/* mov %r13,%rdi; mov %rbx,%rdx; mov %r14,%r8; call *disp(%rip); sub %rax,%r14 */
static const uint16_t call_gc[] = {0x4c, 0x89, 0xef, 0x48, 0x89, 0xda, ANY, 0x89, 0xf0, 0xff, 0x15,
	ANY, ANY, ANY, ANY, ANY, 0x29, 0xc6};

#define LENGTH(a) (sizeof(a) / sizeof((a)[0]))

static const uint8_t *find_breakpoint(const uint8_t *entry)
{
	const uint8_t *t, *found = NULL;

	if (byte(entry) != 0xeb || byte(entry + 1) != 6 || byte(entry + 3) != 0xe8 ||
		(t = target(entry + 3)) == NULL) {
		no("functions do not begin as known");
		return NULL;
	}
	if (byte(t) == 0xe9 || byte(t) == 0xff || (byte(t) == 0x40 && byte(t + 1) == 0xe9))
		t = target(t); /* a veneer */
	for (const uint8_t *p = t; t != NULL && p < t + FRAGMENT; p++) {
		const uint8_t *to;

		if (*p != 0xe8 && !(p[0] == 0xff && p[1] == 0x15))
			continue;
		to = target(p);
		if (to == NULL || !IS_CODE(to, breakpoint_start) || to == found)
			continue;
		if (found != NULL) {
			no("two breakpoint fragments");
			return NULL;
		}
		found = to;
	}
	if (found == NULL)
		no("no breakpoint fragment");
	return found;
}

/* mov stop(%r13),%rsp; mov htop(%r13),%r15; mov fcalls(%r13),%r14 or %r14d */
static bool find_offsets(struct fast_found *f, const uint8_t *p)
{
	static const uint16_t reload[] = {
		0x49, 0x8b, 0x65, ANY, 0x4d, 0x8b, 0x7d, ANY, ANY, 0x8b, 0x75, ANY};
	uint8_t size = byte(p + 8);

	if (!IS_CODE(p, reload) || (size != 0x4d && size != 0x45))
		return no("the breakpoint fragment does not end as known");
	f->vm.stop = byte(p + 3);
	f->vm.htop = byte(p + 7);
	f->vm.fcalls = byte(p + 11);
	f->vm.fcalls_size = size == 0x45 ? 4 : 8;
	if (f->vm.stop != STOP || f->vm.htop != HTOP || f->vm.fcalls <= STOP ||
		f->vm.fcalls % f->vm.fcalls_size != 0)
		return no("stop, htop and fcalls are at %u, %u, %u", f->vm.stop, f->vm.htop,
			f->vm.fcalls);
	return true;
}

static bool find_fragments(struct fast_found *f, const uint8_t *breakpoint)
{
	const uint8_t *p = breakpoint;
	const uintptr_t *gc;

	while (p < breakpoint + FRAGMENT && !(*p == call_entry[0] && IS_CODE(p, call_entry)))
		p++;
	if (p == breakpoint + FRAGMENT)
		return no("the breakpoint fragment has no call as known");
	p += LENGTH(call_entry);
	f->entry.at = word_of(p - 2);
	if (!find_offsets(f, p + 4))
		return false;
	p = only_place(breakpoint, call_error, LENGTH(call_error));
	if (p != NULL)
		p += LENGTH(call_error);
	else if ((p = only_place(breakpoint, call_error_short, LENGTH(call_error_short))) != NULL)
		p += LENGTH(call_error_short);
	if (p == NULL)
		return no("no fragment for exceptions, or several");
	f->error.at = word_of(p - 2);
	p = only_place(breakpoint, call_gc, LENGTH(call_gc));
	gc = p != NULL ? word_of(p + 9) : NULL;
	if (gc == NULL || in_jit(gc) == NULL)
		return no("no fragment for garbage collections, or several");
	if (in_jit(f->entry.at) == NULL || in_jit(f->error.at) == NULL)
		return no("a word is not in the JIT's memory");
	f->vm.entry = look(f->entry.at);
	f->vm.error = look(f->error.at);
	f->vm.gc = look(gc);
	if (!in_vm(f->vm.gc))
		return no("the garbage collector is not in the VM");
	if (!symbol_ok(f->vm.entry, "erts_generic_breakpoint", NULL) ||
		!symbol_ok(f->vm.error, "handle_error", NULL) ||
		!symbol_ok(f->vm.gc, "erts_garbage_collect_nobump", NULL))
		return no("the VM's symbols are others");
	return true;
}

/* ---- for the sampler (sampler_find.c) -------------------------------------------------- */

uintptr_t fast_find_gc_return(uintptr_t near)
{
	const uint8_t *p = NULL;

	if (read_maps() == NULL && in_any_jit((const void *)near) != NULL)
		p = only_place((const uint8_t *)near, call_gc, LENGTH(call_gc));
	return p != NULL ? (uintptr_t)(p + 15) : 0;
}

uintptr_t fast_find_bif_return(uintptr_t near, uint8_t stop)
{
	/* call *%reg; mov stop(%r13),%rsp; mov htop(%r13),%r15 */
	uint16_t call_bif[] = {
		0xff, 0xd0, 0x49, 0x8b, 0x65, stop, 0x4d, 0x8b, 0x7d, (uint16_t)(stop - 8)};
	const uint8_t *p = NULL;

	if (read_maps() != NULL || in_any_jit((const void *)near) == NULL)
		return 0;
	for (uint16_t reg = 0; reg < 8; reg++) {
		const uint8_t *q;

		call_bif[1] = 0xd0 + reg;
		q = only_place((const uint8_t *)near, call_bif, LENGTH(call_bif));
		if (q != NULL && p != NULL)
			return 0;
		p = q != NULL ? q : p;
	}
	return p != NULL ? (uintptr_t)(p + 2) : 0;
}

uintptr_t fast_find_like(uintptr_t ret)
{
	const struct mapping *m;
	uintptr_t from, to, hit = 0;
	uint16_t code[2 + 4 + 64] = {0xff, 0x15, ANY, ANY, ANY, ANY};

	if (read_maps() != NULL || (m = in_any_jit((const void *)ret)) == NULL)
		return 0;
	from = ret - m->from > AROUND ? ret - AROUND : m->from;
	to = m->to - ret > AROUND ? ret + AROUND : m->to;
	for (unsigned i = 6; i < LENGTH(code); i++)
		code[i] = byte((const uint8_t *)ret + i - 6);
	for (uintptr_t at = from; at + LENGTH(code) < to; at++) {
		if (*(const uint8_t *)at != 0xff || at + 6 == ret ||
			!IS_CODE((const uint8_t *)at, code))
			continue;
		if (hit != 0)
			return 0;
		hit = at + 6;
	}
	return hit;
}

/* ---- processes ------------------------------------------------------------------------- */

static char *process(ErlNifEnv *env)
{
	return ((char **)(void *)env)[ENV_PROC];
}

static uintptr_t word(const char *proc, uint32_t offset)
{
	return look((const uintptr_t *)(const void *)(proc + offset));
}

/* heap, hend, something, heap_sz: the only three that agree, with all of the stack in between. */
static bool find_hend(struct fast_found *f, const char *proc)
{
	uintptr_t htop = word(proc, HTOP), stop = word(proc, STOP), w[PROC_WORDS + 3];

	for (unsigned i = 0; i < LENGTH(w); i++)
		w[i] = word(proc, PROC_FROM + 8 * i);
	f->vm.hend = 0;
	for (unsigned i = 0; i < PROC_WORDS; i++) {
		uintptr_t heap = w[i], end = w[i + 1], size = w[i + 3];

		if (heap > htop || end < stop || size == 0 ||
			end - heap != size * sizeof(uintptr_t))
			continue;
		if (f->vm.hend != 0)
			return no("the end of the heap is in two places");
		f->vm.hend = PROC_FROM + 8 * (i + 1);
	}
	return f->vm.hend != 0 || no("the end of the heap is not found");
}

bool fast_find_code(struct fast_found *f, ErlNifEnv *env, ERL_NIF_TERM mod, ERL_NIF_TERM fun)
{
	const char *proc = process(env);
	const uint8_t *caller, *entry, *breakpoint;
	const uintptr_t *stack, *info;
	ErlNifPid pid;

	memset(f, 0, sizeof(*f));
	if (!have_maps())
		return false;
	if (enif_self(env, &pid) == NULL || word(proc, 0) != pid.pid)
		return no("a process does not begin with its pid");
	if (word(proc, HTOP) > word(proc, STOP))
		return no("stop and htop are not where they are in releases that are known");
	stack = (const uintptr_t *)word(proc, STOP);
	caller = (const uint8_t *)look(&stack[1]);
	if (in_jit((const void *)look(&stack[0])) == NULL || in_jit(caller - 5) == NULL)
		return no("the stack does not hold return addresses");
	if (byte(caller - 5) != 0xe8)
		return no("calls are not made as known");
	entry = caller + rel32(caller - 4);
	if (!in_code(entry - INFO, INFO + FRAGMENT))
		return no("a call leads out of the JIT's code");
	info = (const uintptr_t *)(const void *)(entry - INFO);
	if (look(&info[2]) != mod || look(&info[3]) != fun || look(&info[4]) != 1)
		return no("no module, function and arity before a function");
	breakpoint = find_breakpoint(entry);
	return breakpoint != NULL && find_fragments(f, breakpoint) && find_hend(f, proc);
}

/* mov (%rsp),%rsi */
static const uint16_t return_start[] = {0x48, 0x8b, 0x34, 0x24};

bool fast_find_return(struct fast_found *f, ErlNifEnv *env)
{
	const uintptr_t *stack = (const uintptr_t *)word(process(env), STOP);
	const uint8_t *fragment = (const uint8_t *)look(&stack[1]), *p;
	const ERL_NIF_TERM nil = enif_make_list(env, 0);
	uintptr_t *at = NULL;
	unsigned frame = 0;

	if (!have_maps())
		return false;
	if (!in_code(fragment, FRAGMENT) || look(&stack[2]) != nil)
		return no("no frame of call_time");
	if (!IS_CODE(fragment, return_start))
		return no("the return fragment does not begin as known");
	for (p = fragment; p < fragment + FRAGMENT && frame == 0; p++) {
		if (at == NULL && p[0] == 0xff && p[1] == 0x15 && byte(p) == 0xff &&
			byte(p + 1) == 0x15)
			at = word_of(p);
		/* add $n,%rsp */
		else if (at != NULL && p[0] == 0x48 && p[1] == 0x83 && p[2] == 0xc4 &&
			 byte(p + 1) == 0x83)
			frame = byte(p + 3) / sizeof(uintptr_t);
	}
	if (at == NULL || in_jit(at) == NULL || frame < 1 || frame > 3)
		return no("the return fragment is not as known");
	if (in_jit((const void *)look(&stack[2 + frame])) == NULL)
		return no("no return address below a frame of call_time");
	f->ret.at = at;
	f->vm.ret = look(at);
	f->vm.frame = frame;
	f->vm.return_code = (uintptr_t)fragment;
	return symbol_ok(f->vm.ret, "erts_trace_time_return", "erts_call_trace_return") ||
	       no("the VM's symbols are others");
}

bool fast_find_catches(struct fast_found *f, ErlNifEnv *env, unsigned n)
{
	static int64_t seen[3][PROC_WORDS];
	struct find_set set;
	unsigned at;

	if (n > 2)
		return no("no such step");
	for (unsigned i = 0; i < PROC_WORDS; i++)
		seen[n][i] = (int64_t)word(process(env), PROC_FROM + 8 * i);
	if (n < 2)
		return true;
	find_all(&set, 0, PROC_WORDS);
	FIND_EACH(i, &set)
		if (seen[0][i] < 0 || seen[0][i] >= 1000 || seen[1][i] != seen[0][i] + 1 ||
			seen[2][i] != seen[0][i] + 2)
			find_drop(&set, i);
	if (!find_only(&set, &at))
		return no("%u words of a process count handlers", find_left(&set));
	f->vm.catches = PROC_FROM + 8 * at;
	return true;
}

/* A flag in one of the first words: those of the stack and the heap change by themselves. */
bool fast_find_sensitive(struct fast_found *f, ErlNifEnv *env, unsigned n)
{
	static uintptr_t seen[2][HTOP / 8];
	unsigned at, found;

	if (n > 1)
		return no("no such step");
	for (unsigned i = 0; i < HTOP / 8; i++)
		seen[n][i] = word(process(env), 8 * i);
	if (n < 1)
		return true;
	found = find_flag(seen[0], seen[1], HTOP / 8, &at, &f->vm.sensitive_bit);
	if (found != 1)
		return no("%u words of a process tell that it is sensitive", found);
	f->vm.sensitive = 8 * at;
	return true;
}

bool fast_find_words(struct fast_found *f)
{
	if (!have_maps())
		return false;
	if (f->vm.return_code == 0 || f->vm.catches == 0 || f->vm.hend == 0 ||
		f->vm.sensitive_bit == 0)
		return no("not all was looked for");
	return word_ok(&f->entry, f->vm.entry, "breakpoints") &&
	       word_ok(&f->ret, f->vm.ret, "returns") &&
	       word_ok(&f->error, f->vm.error, "exceptions");
}
