/* SPDX-License-Identifier: Apache-2.0 */
/* The program and the libraries of a process, for providers of probes in them: modules.c. */
#ifndef K_MODULES_H
#define K_MODULES_H

#include "symbols/elf.h"
#include "error.h"

struct k_module {
	char *file; /* where it can be opened: below /proc/PID */
	char *path; /* as the process knows it */
	const char *name; /* its last part */
	char *aliases;	  /* other names: a.out, libc and libc.so; one behind the other, then "" */
	uint64_t start, end, offset; /* where its code is in memory, and what of the file that is */
	int pid;
	bool main;  /* the program itself: a.out too */
	bool by_name; /* file is path, as the process knows it */
	bool read;
	struct elf elf;
	struct k_slot *slots; /* ifunc.c */
	unsigned nslots;
	bool has_slots;
	uint8_t **code; /* of its segments, or NULL: not read yet */
};
struct k_process {
	struct k_process *next;
	int pid;
	struct k_module *mods;
	unsigned n;
	bool cut; /* it has more than are looked at */
};

/* A process of a list; looked at when it is first asked for. NULL: why is in e. */
struct k_process *k_process(struct k_process **list, int pid, struct et_error *e);
/* What it has got since it was looked at: one more of the list; NULL: nothing, or it is gone. */
struct k_process *k_process_more(struct k_process **list, int pid);
void k_processes_free(struct k_process *list);
int k_module_open(const struct k_module *m);	    /* its file, to read; -1: not there, or none */
const struct elf *k_module_elf(struct k_module *m); /* its segments and symbols */
/* What of a process is not looked at because there is too much of it: a line; false: no more. */
bool k_modules_news(struct k_process *list, char *buf, size_t size);
/* What is at an offset of the file, where it has code; *n: bytes up to the end of that. */
const uint8_t *k_module_code(struct k_module *m, uint64_t offset, size_t *n);
/*
 * Functions that a library chooses among by the machine it runs on (memcpy() and its like): where
 * the process has its choice, as an offset in the file. false: it has not chosen yet. ifunc.c
 */
bool k_chosen(struct k_process *list, int pid, struct k_module *m, const struct elf_sym *s,
	uint64_t *offset);
size_t k_insn_len(const uint8_t *code, size_t n); /* x86_length.c; 0: not known */
bool k_module_matches(const struct k_module *m, const char *glob);
/* The process that a provider's name ends with ("pid1234": 1234), or 0; *len: of what is before. */
int k_pid_of(const char *prov, size_t *len);

#endif
