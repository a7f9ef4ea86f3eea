/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Terms of an Erlang VM as text (probe path): pids, ports, atoms and small numbers, and tuples of
 * these; anything else is "...". struct k_erlang says where the VM has things. Text is written from
 * `to' on, up to `end'; each function returns where it stopped, and puts a NUL there.
 */
#include "buffer.h"
#include "engine/tables/dyn.h"
#include "engine/fire.h"
#include "engine/in_kernel.h"
#include "engine/rt/rt_str.h"
#include "engine/safe.h"
#include "engine/slot.h"
#include "engine/state.h"
#include "prog/builtins.h"
#include "vm_terms.h"

enum { TAG = 15, PID = 3, PORT = 7, SMALL = 15, ATOM = 11, NIL = 0x3b };
enum { EXTERNAL_PID = 0x30, TUPLE = 0, HEADER = 0x3f };
enum { ROOM = 40, MOST = 12 }; /* the longest pid; elements of a tuple that are shown */
enum { NODE_NAME = 0x18, MAX_ATOM = 255 };

static inline char *text(uint64_t to)
{
	return (char *)(uintptr_t)to;
}

static inline const struct k_erlang *vm_of(const struct fire *f)
{
	return (const struct k_erlang *)(uintptr_t)f->thread->k.vm;
}

INLINE_HERE uint64_t k_put_number(uint64_t to, uint64_t v)
{
	char *p = text(to);
	uint64_t div = 1;

	while (div < 1000000000000000000 && v / div >= 10)
		div *= 10;
	for (; div > 0; div /= 10)
		*p++ = (char)('0' + v / div % 10);
	*p = '\0';
	return (uint64_t)(uintptr_t)p;
}

/* The VM keeps a slot of a table; the number that is shown is made of it as it does that. */
static inline uint64_t shown(uint64_t term, uint32_t log)
{
	uint64_t data = term >> 4, slots = 1ULL << log, slot = data & (slots - 1);

	if (log == 0) /* both are there: up to OTP 25 */
		return data & 0xfffffff;
	return (data & ~(slots - 1)) | slot >> 3 | (slot & 7) << (log - 3);
}

static inline uint64_t put_three(uint64_t to, uint64_t a, uint64_t b, uint64_t c)
{
	text(to)[0] = '<';
	to = k_put_number(to + 1, a);
	text(to)[0] = '.';
	to = k_put_number(to + 1, b);
	text(to)[0] = '.';
	to = k_put_number(to + 1, c);
	text(to)[0] = '>';
	text(to)[1] = '\0';
	return to + 1;
}

static inline uint64_t put_pid(const struct fire *f, uint64_t to, uint64_t term)
{
	const struct k_erlang *k = vm_of(f);
	uint64_t data = shown(term, k->process_bits);

	return put_three(to, 0, data & ((1ULL << k->bits) - 1), data >> k->bits);
}

static inline uint64_t put_port(const struct fire *f, uint64_t to, uint64_t term)
{
	*(uint32_t *)(void *)text(to) = 0x726f5023; /* #Por */
	*(uint32_t *)(void *)text(to + 4) = 0x2e303c74; /* t<0. */
	to = k_put_number(to + 8, shown(term, vm_of(f)->port_bits));
	text(to)[0] = '>';
	text(to)[1] = '\0';
	return to + 1;
}

/* The name of an atom into the slot's buffer: its length; 0: there is none. */
static inline uint64_t fetch_atom(struct fire *f, uint64_t term)
{
	const struct k_erlang *k = vm_of(f);
	uint64_t index = term >> 6, page, atom, len, from;
	char *buf = k_buffer(f->thread);

	if (k->atoms == 0 || (term & HEADER) != ATOM)
		return 0;
	page = user_word(k->atoms + index / 1024 * 8);
	atom = user_word(page + index % 1024 * 8);
	len = user_word(atom + k->atom_len) & 0xffff;
	if (len > MAX_ATOM)
		len = MAX_ATOM;
	from = user_word(atom + k->atom_name);
	if (k->atom_text != 0) /* a binary's */
		from = (from & ~7ULL) + k->atom_text;
	if (atom == 0 || !(fetch(buf, from, (uint32_t)len) ||
				 (k_touch(from, len) && fetch(buf, from, (uint32_t)len))))
		return 0;
	return len;
}

static inline bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static inline bool is_word(char c)
{
	return is_lower(c) || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
	       c == '@';
}

/* As Erlang writes it: with quotes where it could be taken for something else. */
INLINE_HERE uint64_t k_put_atom(struct fire *f, uint64_t to, uint64_t end, uint64_t term)
{
	uint64_t len = fetch_atom(f, term), words = unknown_zero(), keep, i;
	char *buf = k_buffer(f->thread);
	bool quoted;

	text(to)[0] = '\0';
	if ((term & HEADER) != ATOM || end - to < 3 || vm_of(f)->atoms == 0)
		return to;
	for (i = unknown_zero(); i < len; i++)
		words += is_word(buf[bounded(i)]);
	quoted = words != len || len == 0 || !is_lower(buf[0]);
	keep = unknown_zero() + (quoted ? 3 : 1);
	if (quoted)
		text(to++)[0] = '\'';
	for (i = unknown_zero(); i < len && end - to > keep; i++) {
		char c = buf[bounded(i)];

		if (c == '\'' || c == '\\' || c == '\n')
			text(to++)[0] = '\\';
		text(to++)[0] = c == '\n' ? 'n' : c;
	}
	if (quoted)
		text(to++)[0] = '\'';
	text(to)[0] = '\0';
	return to;
}

/* The name of a node, which everybody writes without quotes. */
static inline void put_node(struct fire *f, uint64_t to, uint64_t end, uint64_t term)
{
	uint64_t len = fetch_atom(f, term);

	if (len >= end - to)
		len = end - to - 1;
	from_buffer(text(to), k_buffer(f->thread), (uint32_t)len);
	text(to + len)[0] = '\0';
}

/* The name of a node; that is also the first number of its pids. */
static inline uint64_t put_external(struct fire *f, uint64_t to, uint64_t at)
{
	uint64_t node = user_word(at + 8), data = user_word(at + 24);

	return put_three(
		to, user_word(node + NODE_NAME) >> 6 & UINT32_MAX, data & UINT32_MAX, data >> 32);
}

INLINE_HERE uint64_t k_put_simple(struct fire *f, uint64_t to, uint64_t end, uint64_t term)
{
	uint64_t at = term & ~7ULL;

	text(to)[0] = '\0';
	if (end - to < ROOM)
		return to;
	if ((term & TAG) == PID)
		return put_pid(f, to, term);
	if ((term & TAG) == PORT)
		return put_port(f, to, term);
	if ((term & HEADER) == ATOM)
		return k_put_atom(f, to, end, term);
	if ((term & TAG) == SMALL) {
		int64_t v = (int64_t)term >> 4;

		if (v < 0)
			text(to++)[0] = '-';
		return k_put_number(to, (uint64_t)(v < 0 ? -v : v));
	}
	if ((term & 3) == 2 && (user_word(at) & HEADER) == EXTERNAL_PID)
		return put_external(f, to, at);
	*(uint32_t *)(void *)text(to) = term == NIL ? 0x5d5b : 0x2e2e2e; /* [], ... */
	return to + (term == NIL ? 2 : 3);
}

INLINE_HERE uint64_t k_put_term(struct fire *f, uint64_t to, uint64_t end, uint64_t term)
{
	uint64_t at = term & ~7ULL, head = (term & 3) == 2 ? user_word(at) : HEADER, n = head >> 6;

	if ((head & HEADER) != TUPLE)
		return k_put_simple(f, to, end, term);
	text(to++)[0] = '{';
	end--; /* for the other one */
	for (uint64_t i = 0; i < n && i < MOST && end - to > ROOM; i++) {
		if (i > 0)
			text(to++)[0] = ',';
		to = k_put_simple(f, to, end, user_word(at + 8 + 8 * i));
	}
	if (n > MOST && end - to > ROOM) {
		*(uint32_t *)(void *)text(to) = 0x2e2e2e2c; /* ,... */
		to += 4;
	}
	text(to)[0] = '}';
	text(to)[1] = '\0';
	return to + 1;
}

/* ---- the process that runs ------------------------------------------------------------ */

enum { REG_FROM = 0x20, REG_TO = 0x50, REG_PROCESS = 16, REG_PORT = 24, REG_NAME = 32 };

static inline const struct k_vm *vm_at(uint64_t how)
{
	return (const struct k_vm *)(uintptr_t)(how - offsetof(struct k_vm, how));
}

static inline uint64_t scheduler(const struct k_vm *vm)
{
	return thread_data(vm->scheduler);
}

/* Of the current thread: whose self-> variables, and what erlpid is. */
uint64_t k_find_process(struct en_thread *t)
{
	uint32_t pid = (uint32_t)(k_current_ids() >> 32), i;
	const struct k_vm *vm = NULL;
	uint64_t data, process, term;

	for (i = 0; i < K_VMS && i < k_root.nvms; i++)
		if (k_root.vms[i].pid == pid) {
			vm = &k_root.vms[i];
			break;
		}
	if (vm == NULL)
		return 0;
	t->k.vm = (uint64_t)(uintptr_t)&vm->how;
	data = scheduler(vm);
	process = data != 0 ? user_word(data + vm->current) : 0;
	term = process != 0 ? user_word(process) : 0;
	if ((term & TAG) != PID)
		return 0;
	t->k.process = term;
	t->self_key = process_key(term);
	return term;
}

/*
 * A process that is registered points to its entry in the table of names, which points back, and
 * has no port. The timer of a `receive ... after' points back as well, from the same distance; what
 * it has in the port's place is not 0.
 */
static inline uint64_t registered_name(uint64_t process)
{
	for (uint64_t at = REG_FROM; at < REG_TO; at += 8) {
		uint64_t reg = user_word(process + at), name;

		if (reg <= 4096 || user_word(reg + REG_PROCESS) != process ||
			user_word(reg + REG_PORT) != 0)
			continue;
		name = user_word(reg + REG_NAME);
		if ((name & HEADER) == ATOM)
			return name;
	}
	return 0;
}

/* What a process is called: its name, else its pid. */
static inline void put_process(struct fire *f, uint64_t to, uint64_t end, uint64_t process)
{
	uint64_t name = registered_name(process);

	if (name != 0)
		k_put_atom(f, to, end, name);
	else
		put_pid(f, to, user_word(process));
}

INLINE_HERE uint64_t k_put_hex(uint64_t to, uint64_t v)
{
	uint64_t shift = 60;

	*(uint16_t *)(void *)text(to) = 0x7830; /* 0x */
	to += 2;
	while (shift > 0 && v >> shift == 0)
		shift -= 4;
	for (shift += 4; shift > 0; shift -= 4) {
		uint64_t digit = v >> (shift - 4) & 15;

		text(to++)[0] = (char)(digit < 10 ? '0' + digit : 'a' - 10 + digit);
	}
	text(to)[0] = '\0';
	return to;
}

/* Up to eight characters, the first one lowest. */
static inline uint64_t put_chars(uint64_t to, uint64_t chars, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++)
		text(to + i)[0] = (char)(chars >> 8 * i);
	return to + n;
}

/* "table x", "process x", "run queue 1"; else where it is: in the VM's program, or anywhere. */
INLINE_HERE uint64_t k_put_lock(struct fire *f, uint64_t to, uint64_t end, uint64_t lock)
{
	const struct k_vm *vm = vm_at(f->thread->k.vm);
	uint64_t of;

	if (lock & K_LOCK_OF_PROCESS) {
		to = put_chars(to, 0x20737365636f7270, 8); /* process */
		put_process(f, to, end, lock - K_LOCK_OF_PROCESS);
	} else if (lock - vm->program < vm->program_end - vm->program) {
		to = put_chars(to, 0x706d732e6d616562, 8); /* beam.smp */
		to = put_chars(to, '+', 1);
		k_put_hex(to, lock - vm->program);
	} else if ((of = k_table_of(f->thread, vm, lock)) != 0) {
		to = put_chars(to, 0x20656c626174, 6); /* table */
		k_put_atom(f, to, end, of);
	} else if ((of = k_run_queue_of(f->thread, vm, lock)) != 0) {
		to = put_chars(to, 0x75657571206e7572, 8); /* run queu */
		to = put_chars(to, 0x2065, 2);		   /* e */
		k_put_number(to, of);
	} else {
		k_put_hex(to, lock);
	}
	return 0;
}

/* What an event is asked for; calls go eight deep at most, so no more than needed of them here. */
static inline void answer_text(struct fire *f, uint64_t to, uint64_t end, uint64_t ask, uint64_t n)
{
	struct en_thread *t = f->thread;
	uint64_t data;

	if (t->k.answers != 0) {
		if (ask == PBI_ERLARG)
			ask = n < PBI_ARGS ? PBI_COUNT_ + n : PBI_USDT; /* which has none */
		data = user_word(t->k.answers + 8 * ask);
		if (data != 0)
			safe_str(f, text(to), data, end - to);
	} else if (t->k.vm == 0) {
		return;
	} else if (ask == PBI_ERLNODE) {
		put_node(f, to, end, user_word(user_word(vm_of(f)->this_node) + NODE_NAME));
	} else if (ask == PBI_ERLLOCK) {
		data = k_find_lock(t);
		if (data != 0 && end - to >= 2 * ROOM)
			k_put_lock(f, to, end, data);
	} else if (t->k.process == 0) {
		return;
	} else if (ask == PBI_ERLPID && end - to >= ROOM) {
		put_pid(f, to, t->k.process);
	} else if (ask == PBI_ERLNAME || ask == PBI_ERLPROC) {
		data = scheduler(vm_at(t->k.vm));
		data = registered_name(user_word(data + vm_at(t->k.vm)->current));
		if (data == 0 && ask == PBI_ERLPROC && end - to >= ROOM)
			put_pid(f, to, t->k.process);
		else
			k_put_atom(f, to, end, data);
	}
}

RTFN(pbi_str)
{
	struct fire *f = FIRE(ctx);
	uint64_t to = (uint64_t)(uintptr_t)str_slot(f, a);

	if (to == 0)
		return 0;
	str_end(text(to), 0);
	answer_text(f, to, to + f->en->strsize, b, c);
	return to;
}

/* Is it the text, or what the text has between the quotes of an atom, a list or a binary? */
RTFN(pbi_equals)
{
	struct fire *f = FIRE(ctx);
	uint64_t to = rt_pbi_str(ctx, a, b & 0xff, c, 0), quotes;
	uint32_t len, n;
	const char *s = str_text(f, to, &len), *with = str_text(f, d, &n);

	if (len == n)
		return n == 0 || memcmp(s, with, n) == 0;
	if (len < 2)
		return 0;
	quotes = s[0] == '\'' || s[0] == '"' ? 1 : s[0] == '<' && s[1] == '<' ? 3 : 0;
	return quotes > 0 && len == n + 2 * quotes && memcmp(s + quotes, with, n) == 0;
}

RTFN(pbi_num)
{
	const struct en_thread *t = FIRE(ctx)->thread;
	uint64_t data;

	if (t->k.answers != 0 && a == PBI_ERLINT)
		return b < PBI_ARGS ? user_word(t->k.answers + 8 * (PBI_COUNT_ + PBI_ARGS + b)) : 0;
	if (t->k.answers != 0)
		return user_word(t->k.answers + 8 * a);
	if (t->k.vm == 0 || a != PBI_ERLSCHED)
		return 0;
	data = scheduler(vm_at(t->k.vm));
	return data != 0 ? user_word(data + vm_at(t->k.vm)->number) & UINT32_MAX : 0;
}
