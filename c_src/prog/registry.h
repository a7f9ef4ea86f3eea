/* SPDX-License-Identifier: Apache-2.0 */
/* Probe descriptions, and what the compiler asks of the registry of probes. */
#ifndef PROG_REGISTRY_H
#define PROG_REGISTRY_H

#include <stddef.h>
#include <stdint.h>

#include "error.h"

struct d_pdesc {
	const char *prov, *mod, *func, *name; /* "" means any; globs */
	uint32_t id;			      /* != 0: by number, the rest is unset */
	int line, col;
	const char *start, *end; /* in the source; NULL: not of a script */
	struct d_pdesc *next;
};

struct d_probeinfo {
	uint32_t id;
	const char *prov, *mod, *func, *name;
	int nargs;		   /* typed arguments; -1: not known */
	const char *const *argtypes; /* as in C; "string" for text without copyinstr */
	const char *const *xargtypes; /* translated: what args[n] is, if not NULL */
	const uint8_t *argmap;	   /* args[n] comes from arg argmap[n], if not NULL */
};

struct d_registry {
	/* Make and find the probes a description names; calls cb for each, in order of id.
	 * Returns how many, or -1 with the error filled. */
	int (*match)(void *data, const struct d_pdesc *desc,
		void (*cb)(void *arg, const struct d_probeinfo *p), void *arg, struct et_error *e);
	/* The names that probes of these providers have. May be NULL. */
	void (*names)(void *data, const char *prov, void (*cb)(void *arg, const char *name),
		void *arg);
	/* Why a description matches none: of its provider, or "" (none to tell). May be NULL. */
	void (*why)(void *data, const struct d_pdesc *desc, char *buf, size_t size);
	void *data;
};

#endif
