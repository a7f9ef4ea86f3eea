/* SPDX-License-Identifier: Apache-2.0 */
/* Probe descriptions, and the compiler's queries of the registry of probes. */
#ifndef PROG_REGISTRY_H
#define PROG_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "error.h"

struct d_pdesc {
	const char *prov, *mod, *func, *name; /* "" means any; globs */
	uint32_t id;			      /* != 0: by number, the names are unset */
	bool listing; /* nothing is to be enabled */
	int line, col;
	const char *start, *end; /* in the source; NULL: not from a script */
	uint32_t pbis; /* provider built-ins that one of its probes has; set by the compiler */
	uint32_t shown, no_text; /* arguments that show contents; that are no texts (likewise) */
	struct d_pdesc *next;
};

struct d_probeinfo {
	uint32_t id;
	const char *prov, *mod, *func, *name;
	int nargs;		   /* typed arguments; -1: unknown */
	const char *const *argtypes; /* as in C; "string" for text that needs no copyinstr */
	const char *const *xargtypes; /* translated types of args[n], or NULL */
	const uint8_t *argmap;	   /* args[n] is arg argmap[n]; or NULL: arg n */
	uint32_t pbis;		   /* provider built-ins that it has: bits PBI_* */
};

struct d_registry {
	/*
	 * Find the probes that a description matches, making those on demand; calls cb for each, in
	 * order of id. Returns their number, or -1 with the error.
	 */
	int (*match)(void *data, const struct d_pdesc *desc,
		void (*cb)(void *arg, const struct d_probeinfo *p), void *arg, struct et_error *e);
	/* The names of the probes of these providers. May be NULL. */
	void (*names)(void *data, const char *prov, void (*cb)(void *arg, const char *name),
		void *arg);
	/*
	 * Provider built-ins that probes of this description have, if there were any. May be NULL.
	 */
	uint32_t (*has)(void *data, const struct d_pdesc *desc);
	/* Why a description matches nothing, if its provider knows; or "". May be NULL. */
	void (*why)(void *data, const struct d_pdesc *desc, char *buf, size_t size);
	void *data;
};

#endif
