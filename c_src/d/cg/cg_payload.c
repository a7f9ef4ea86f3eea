/* SPDX-License-Identifier: Apache-2.0 */
/*
 * payload=off: scripts may count, but show no contents of messages, arguments, results, reasons or
 * memory. It is enforced where code is generated, so that libraries, inlines, translators and casts
 * make no difference: built-ins by their class (builtins.def), whatever reads memory by the runtime
 * function that does so, arguments of probes by the table of their provider.
 */
#include "cg.h"

#include <string.h>

#include "prog/erlang_has.h"

static bool is_on(const struct cg *g)
{
	return g->c->opts->val[OPT_PAYLOAD] != 0;
}

void cg_payload_builtin(struct cg *g, const struct d_node *n)
{
	const struct d_builtin *b = n->ident->builtin;

	if (is_on(g) || b == NULL || !(b->traits & SHOWS) || g->failed)
		return;
	if (b->id == FN_COPYINSTR &&
		b->kind == ID_FUNC) /* of an argument that is a text: see below */
		return;
	cg_fail(g, n, D_PAYLOAD,
		"%s%s shows contents of messages, arguments or memory: option payload "
		"is off",
		b->name, b->kind == ID_BUILTIN ? "" : "()");
}

/* What reads memory at an address that the script has. */
static bool reads_memory(enum rt_fn fn)
{
	switch (fn) {
	case RT_addrstr:
	case RT_bcopy:
	case RT_copyin:
	case RT_copyinstr:
	case RT_copyinto:
	case RT_inet_ntoa:
	case RT_inet_ntoa6:
	case RT_inet_ntop:
	case RT_link_ntop:
	case RT_load:
	case RT_lock_state:
	case RT_read:
	case RT_rec_mem:
	case RT_ureg: return true;
	default: return false;
	}
}

void cg_payload_call(struct cg *g, enum rt_fn fn)
{
	struct d_node at = {.line = g->clause->line, .col = g->clause->col};

	if (!is_on(g) && reads_memory(fn) && !g->failed)
		cg_fail(g, &at, D_PAYLOAD,
			"the clause reads memory, or registers: option payload is off");
}

/* ---- arguments of probes --------------------------------------------------------------- */

enum { ALL_ARGS = 0x3ff };

/* The provider's name without the number of a process. */
static bool is_provider(const char *prov, const char *name)
{
	size_t n = strlen(name);

	return strncmp(prov, name, n) == 0 && prov[n + strspn(prov + n, "0123456789*")] == '\0';
}

/* Providers whose arguments are numbers, addresses and names. Others may pass anything. */
static bool is_harmless(const char *prov)
{
	static const char *const known[] = {
		"dtrace", "profile", "sched", "proc", "state", "syscall", "ip", "udp", "tcp", "io",
		"fsinfo", "sysinfo", "vminfo", "cpc",
		"lockstat"};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (is_provider(prov, known[i]))
			return true;
	return false;
}

uint32_t d_args_shown(const struct d_probeinfo *p)
{
	if (is_provider(p->prov, "erlang"))
		return prog_erlang_shown(p->name);
	return is_harmless(p->prov) ? 0 : ALL_ARGS;
}

uint32_t d_args_no_text(const struct d_probeinfo *p)
{
	uint32_t args = ALL_ARGS;

	for (int i = 0; i < p->nargs && i < 10 && p->argtypes != NULL; i++)
		if (p->argtypes[i] != NULL && strcmp(p->argtypes[i], "string") == 0)
			args &= ~(1u << i);
	return args;
}

/* Of probes that may match later. */
void d_args_later(struct d_pdesc *d, int matched)
{
	if (d->id != 0)
		return;
	if (strncmp(d->prov, "erlang", 6) == 0)
		d->shown |= prog_erlang_shown(d->name);
	else if (matched == 0 && !is_harmless(d->prov))
		d->shown = d->no_text = ALL_ARGS;
}

/* The other process of a call is what its first argument names: that may be anything. */
static bool shows_peer(const struct cg *g, const struct d_pdesc *d)
{
	const uint32_t peer = 1u << PBI_ERLPEER | 1u << PBI_ERLPEERPROC;

	return (g->clause->uses.pbis & peer) && (d->pbis >> PBI_ERLARG & 1);
}

/* Does the clause read an argument that it may not? */
void cg_payload_args(struct cg *g, const struct d_clause *cl)
{
	struct d_node at = {.line = g->clause->line, .col = g->clause->col};

	for (const struct d_pdesc *d = cl->descs; d != NULL && !is_on(g) && !g->failed;
		d = d->next) {
		uint32_t bad = g->clause->uses.args & d->shown, text = g->texts & d->no_text;

		if (shows_peer(g, d))
			cg_fail(g, &at, D_PAYLOAD,
				"erlpeer and erlpeerproc of %s show its first argument: option "
				"payload is off",
				d_desc_text(g->c, d));
		else if (bad != 0)
			cg_fail(g, &at, D_PAYLOAD,
				"arg%d of %s shows contents: option payload is off",
				__builtin_ctz(bad), d_desc_text(g->c, d));
		else if (text != 0)
			cg_fail(g, &at, D_PAYLOAD,
				"arg%d of %s is an address, and the memory there is not to be "
				"read: "
				"option payload is off",
				__builtin_ctz(text), d_desc_text(g->c, d));
	}
}
