/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Functions of an Erlang VM that are erlang probes: events that tracing inside the node does not
 * give. The VM's program has their symbols up to OTP 28. Arguments come from registers and from the
 * VM's structures (bpf/erlang.h). Offsets in these structures are taken from the code of a function
 * that is known to use them, so that they are right for this VM. What is not found is not read.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "symbols/vm.h"
#include "engine/engine.h"
#include "engine/provider.h"
#include "file.h"
#include "vm_probes.h"
#include "vm_schedulers.h"

#define MAX_CMDLINE (4u << 20) /* bytes: more than the system takes */

enum where {
	ON_ENTRY,
	ON_COPY, /* where it calls copy_struct_x */
	ON_SEND, /* where it calls what a register points to */
};

static const struct vm_probe {
	const char *probe, *symbol; /* a glob: C++ */
	enum k_erlang_kind kind;
	enum where where;
	const char *note;
} probes[] = {
	{"message-receive", "_Z*beam_jit_remove_message*", K_MESSAGE_RECEIVE, ON_ENTRY,
		"the size (arg1) is 0: see copy-struct"},
	{"copy-struct", "copy_struct_x", K_COPY_STRUCT, ON_ENTRY, NULL},
	{"copy-object", "copy_object_x", K_COPY_OBJECT, ON_COPY, NULL},
	{"process-exit_signal", "erts_proc_sig_send_exit", K_EXIT_SIGNAL, ON_ENTRY, NULL},
	{"process-exit_signal", "erts_proc_sig_send_link_exit", K_LINK_EXIT, ON_ENTRY, NULL},
	{"process-exit_signal-remote", "erts_dsig_send_exit2", K_REMOTE_EXIT, ON_ENTRY,
		"the token (arg4 to arg6) is 0"},
	{"process-exit_signal-remote", "erts_dsig_send_exit", K_REMOTE_EXIT, ON_ENTRY, NULL},
	{"process-exit_signal-remote", "erts_dsig_send_exit_tt", K_REMOTE_LINK_EXIT, ON_ENTRY,
		NULL},
	{"port-busy", "set_busy_port", K_PORT_BUSY, ON_ENTRY, NULL},
	{"port-not_busy", "set_busy_port", K_PORT_NOT_BUSY, ON_ENTRY, NULL},
	{"dist-output", "erts_dist_command", K_DIST_OUTPUT, ON_SEND, NULL},
	{"dist-outputv", "erts_dist_command", K_DIST_OUTPUTV, ON_SEND, NULL},
	{"dist-port_not_busy", "erts_dist_port_not_busy", K_DIST_NOT_BUSY, ON_ENTRY, NULL},
	{"driver-ready_async", "async_ready", K_DRIVER, ON_ENTRY, NULL},
	{"driver-process_exit", "erts_fire_port_monitor", K_DRIVER, ON_ENTRY, NULL},
};
enum { NPROBES = sizeof(probes) / sizeof(*probes) };

bool k_is_vm_probe(const char *glob)
{
	for (unsigned i = 0; i < NPROBES; i++)
		if (en_glob(glob, probes[i].probe))
			return true;
	return false;
}

/* ---- code ----------------------------------------------------------------------------- */

struct code {
	const uint8_t *p;
	size_t n;
	uint64_t addr; /* of the first byte */
};

static bool code_of(struct k_module *m, const struct elf_sym *s, struct code *c)
{
	const struct elf *f = k_module_elf(m);
	uint64_t offset;

	if (s == NULL || !elf_offset(f, s->value, true, &offset))
		return false;
	c->p = k_module_code(m, offset, &c->n);
	if (c->n > s->size)
		c->n = s->size;
	c->addr = s->value;
	return c->p != NULL;
}

static const struct elf_sym *symbol(struct k_module *m, const char *glob)
{
	const struct elf *f = k_module_elf(m);

	for (size_t i = 0; i < f->nsyms; i++)
		if (f->syms[i].type == STT_FUNC && en_glob(glob, f->strs + f->syms[i].name))
			return &f->syms[i];
	return NULL;
}

static bool code_named(struct k_module *m, const char *glob, struct code *c)
{
	return code_of(m, symbol(m, glob), c);
}

enum { LOAD = 0x8b, STORE = 0x89, LEA = 0x8d, RCX = 1, RBX = 3, RDI = 7, ANY = 8 };

/*
 * The n-th instruction of 64 bits "op disp32(base), reg"; the displacement is in *disp, 0 if there
 * is none. Returns where the instruction ends.
 */
static size_t find_op(
	const struct code *c, size_t from, uint8_t op, int reg, int base, uint32_t *disp)
{
	*disp = 0;
	for (size_t i = from; i + 7 <= c->n; i++) {
		uint8_t modrm = c->p[i + 2];

		if ((c->p[i] & 0xfa) != 0x48 || c->p[i + 1] != op || modrm >> 6 != 2 ||
			(modrm & 7) == 4 ||
			(base != ANY && ((modrm & 7) != base || (c->p[i] & 1))) ||
			(reg != ANY && ((modrm >> 3 & 7) != reg || (c->p[i] & 4))))
			continue;
		memcpy(disp, c->p + i + 3, sizeof(*disp));
		if (*disp < 4096)
			return i + 7;
		*disp = 0;
	}
	return c->n;
}

static uint32_t first_op(const struct code *c, uint8_t op, int base)
{
	uint32_t disp;

	find_op(c, 0, op, ANY, base, &disp);
	return disp;
}

/* ---- structures ----------------------------------------------------------------------- */

/* Counted down: "subq $1, len(process)", or by a register, loaded and stored. */
static uint32_t find_queue_len(const struct code *c)
{
	uint32_t disp, again;

	for (size_t i = 0; i + 8 < c->n; i++)
		if ((c->p[i] & 0xfe) == 0x48 && c->p[i + 1] == 0x83 && c->p[i + 2] >> 3 == 0x15 &&
			(c->p[i + 2] & 7) != 4 && c->p[i + 7] == 1) {
			memcpy(&disp, c->p + i + 3, sizeof(disp));
			return disp < 4096 ? disp : 0;
		}
	for (size_t i = 0; i + 8 < c->n; i++)
		if ((c->p[i] & 0xfe) == 0x48 && c->p[i + 1] == 0x83 && c->p[i + 2] >> 3 == 0x1d &&
			c->p[i + 3] == 1) { /* sub $1, register */
			find_op(c, i, STORE, ANY, RBX, &disp);
			for (size_t k = 0; disp != 0 && k < i;) {
				k = find_op(c, k, LOAD, ANY, RBX, &again);
				if (again == disp)
					return disp;
			}
		}
	return 0;
}

/* How pids are numbered: by the release of the run-time system, and how many there may be (+P). */
static void find_numbers(int pid, const struct k_module *m, struct k_erlang *how)
{
	const char *erts = strstr(m->path, "/erts-");
	int major = erts != NULL ? atoi(erts + 6) : 0;
	unsigned long limit = major >= 15 ? 1048576 : 262144, ports = 65536;
	char name[64], *line;
	size_t n = 0;

	how->bits = major < 14 ? 15 : 28;
	snprintf(name, sizeof(name), "/proc/%d/cmdline", pid);
	line = file_read(name, MAX_CMDLINE, &n);
	for (size_t i = 0; line != NULL && i < n; i += strlen(line + i) + 1) {
		const char *a = line + i;

		if ((a[0] == '-' || a[0] == '+') && (a[1] == 'P' || a[1] == 'Q'))
			*(a[1] == 'P' ? &limit : &ports) =
				strtoul(a[2] != '\0' || i + 3 > n ? a + 2 : a + 3, NULL, 10);
	}
	free(line);
	for (how->process_bits = 10; how->process_bits < 27 && 1UL << how->process_bits < limit;
		how->process_bits++)
		;
	for (how->port_bits = 10; how->port_bits < 27 && 1UL << how->port_bits < ports;
		how->port_bits++)
		;
	if (major < 14)
		how->process_bits = how->port_bits = 0;
}

/* What the VM's memory tells: names, and what process a thread runs. */
static void find_in_memory(int pid, struct k_vm *vm)
{
	struct vm *mem = vm_open(pid);
	struct k_erlang *how = &vm->how;
	struct vm_schedulers threads;
	const struct elf *program;

	if (mem == NULL)
		return;
	program = vm_program(mem, &vm->program);
	for (unsigned i = 0; i < program->nload; i++) {
		const Elf64_Phdr *p = &program->load[i];

		if (vm->program + p->p_vaddr + p->p_memsz > vm->program_end)
			vm->program_end = vm->program + p->p_vaddr + p->p_memsz;
	}
	if (vm_refusal(mem) == NULL) {
		const struct vm_atoms *at = &vm_tables(mem)->atoms;

		how->atoms = at->table;
		how->atom_len = at->len;
		how->atom_name = at->name;
		how->atom_text = at->text;
	}
	how->this_node = vm_symbol(mem, "erts_this_node");
	if (vm_schedulers_find(mem, pid, &threads)) {
		vm->scheduler = threads.scheduler;
		vm->current = threads.current;
		vm->number = threads.number;
	}
	vm_close(mem);
}

static void find_fields(struct k_module *m, struct k_erlang *how)
{
	struct code c;
	size_t at;

	if (code_named(m, "_Z*beam_jit_remove_message*", &c)) {
		how->queue_len = find_queue_len(&c);
		how->save = first_op(&c, LOAD, RBX);
	}
	if (code_named(m, "async_ready", &c)) { /* port->driver->ready_async */
		at = find_op(&c, 0, LOAD, ANY, RDI, &how->driver);
		find_op(&c, at, LOAD, ANY, ANY, &how->async);
	}
	if (code_named(m, "erts_dist_port_not_busy", &c))
		how->dist = first_op(&c, LOAD, RDI);
	if (code_named(m, "set_busy_port", &c)) /* the address of the flags, for an atomic change */
		how->flags = first_op(&c, LEA, RDI);
	/* a link has its other end right before its own offset in the pair */
	if (code_named(m, "erts_proc_sig_send_link_exit", &c))
		for (size_t i = 0; i + 4 < c.n && how->item == 0; i++)
			if (c.p[i] == 0x0f && c.p[i + 1] == 0xb7 && c.p[i + 2] >> 6 == 1 &&
				c.p[i + 3] >= 8)
				how->item = (uint32_t)c.p[i + 3] - 8;
}

/* ---- sites ---------------------------------------------------------------------------- */

static int call(const struct vm_probe *in, uint64_t offset, const struct k_vm *vm, k_vm_probe_cb cb,
	void *arg)
{
	struct k_vm_probe at = {.probe = in->probe, .note = in->note, .offset = offset, .vm = *vm};

	at.vm.how.kind = in->kind;
	return cb(arg, &at);
}

/* The instruction that calls copy_struct_x; before it, the process is in rcx, plus a distance. */
static size_t find_copy(const struct code *c, uint64_t target, struct k_erlang *how)
{
	for (size_t i = 0; i + 5 <= c->n; i++) {
		struct code before = {c->p, i, c->addr};
		int32_t rel;

		if (c->p[i] != 0xe8)
			continue;
		memcpy(&rel, c->p + i + 1, sizeof(rel));
		if (c->addr + i + 5 + (uint64_t)(int64_t)rel != target)
			continue;
		for (size_t k = 0; k < i;) {
			uint32_t disp;

			k = find_op(&before, k, LEA, RCX, ANY, &disp);
			how->offheap = disp != 0 ? disp : how->offheap;
		}
		return how->offheap != 0 ? i : c->n;
	}
	return c->n;
}

/* "call *register" */
static bool is_call(const uint8_t *p, size_t len)
{
	if (len == 3 && p[0] == 0x41)
		p++;
	else if (len != 2)
		return false;
	return p[0] == 0xff && (p[1] & 0xf8) == 0xd0;
}

static int one(struct k_module *m, const struct vm_probe *in, const struct elf_sym *s,
	const struct k_vm *found, k_vm_probe_cb cb, void *arg)
{
	const struct elf_sym *copy = symbol(m, "copy_struct_x");
	struct k_vm vm = *found;
	struct code c;
	uint64_t offset;
	size_t at, len;
	int rc = 0;

	if (!code_of(m, s, &c) || !elf_offset(k_module_elf(m), s->value, true, &offset))
		return 0;
	if (in->where == ON_ENTRY)
		return call(in, offset, &vm, cb, arg);
	if (in->where == ON_COPY) {
		at = copy != NULL ? find_copy(&c, copy->value, &vm.how) : c.n;
		return at < c.n ? call(in, offset + at, &vm, cb, arg) : 0;
	}
	if (vm.how.driver == 0 || vm.how.async == 0 || vm.how.dist == 0)
		return 0;
	for (at = 0; at < c.n && rc == 0; at += len) {
		len = k_insn_len(c.p + at, c.n - at);
		if (len == 0)
			break;
		if (is_call(c.p + at, len))
			rc = call(in, offset + at, &vm, cb, arg);
	}
	return rc;
}

/* ---- all of it ------------------------------------------------------------------------ */

void k_vm_find(int pid, struct k_module *m, struct k_vm *vm)
{
	*vm = (struct k_vm){.pid = (uint32_t)pid};
	find_numbers(pid, m, &vm->how);
	find_in_memory(pid, vm);
	find_fields(m, &vm->how);
}

uint64_t k_vm_exit(struct k_module *m)
{
	const struct elf_sym *s = symbol(m, "erts_continue_exit_process");
	uint64_t offset;

	return s != NULL && elf_offset(k_module_elf(m), s->value, true, &offset) ? offset : 0;
}

int k_vm_probes(int pid, struct k_module *m, const char *glob, k_vm_probe_cb cb, void *arg)
{
	const struct elf *f = k_module_elf(m);
	struct k_vm vm;
	int rc = 0;

	k_vm_find(pid, m, &vm);
	for (size_t i = 0; i < f->nsyms && rc == 0; i++)
		for (unsigned k = 0; f->syms[i].type == STT_FUNC && k < NPROBES && rc == 0; k++)
			if (en_glob(glob, probes[k].probe) &&
				en_glob(probes[k].symbol, f->strs + f->syms[i].name))
				rc = one(m, &probes[k], &f->syms[i], &vm, cb, arg);
	return rc;
}
