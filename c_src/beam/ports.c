/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of ports (probe path). They come without a process's environment, under the port's lock.
 * Names and owners of ports are noted when tracing begins and at each open: an event does not
 * tell them.
 */
#include <stdlib.h>
#include <string.h>

#include "beam.h"

#define PORTS 4096 /* a power of two; of two ports in one place the first is known */
#define BUSY  1	   /* no port's term */

struct beam_ports {
	struct port {
		_Atomic uint64_t port;
		ERL_NIF_TERM owner;
		char name[48];
	} port[PORTS];
};

static struct port *place(struct beam_handle *b, ERL_NIF_TERM port)
{
	return &b->ports->port[(port * 0x9e3779b97f4a7c15ULL) >> 40 & (PORTS - 1)];
}

int beam_ports_init(struct beam_handle *b)
{
	if (b->ports == NULL)
		b->ports = calloc(1, sizeof(*b->ports));
	return b->ports == NULL ? -1 : 0;
}

void beam_port_note(
	struct beam_handle *b, ErlNifEnv *env, ERL_NIF_TERM port, ERL_NIF_TERM owner, ERL_NIF_TERM name)
{
	struct port *p;
	uint64_t none = 0;

	if (b->ports == NULL)
		return;
	p = place(b, port);
	if (!atomic_compare_exchange_strong(&p->port, &none, BUSY))
		return;
	p->owner = owner;
	if (enif_get_string(env, name, p->name, sizeof(p->name), ERL_NIF_LATIN1) == 0)
		enif_snprintf(p->name, sizeof(p->name), "%T", name);
	p->name[sizeof(p->name) - 1] = '\0';
	atomic_store_explicit(&p->port, port, memory_order_release);
}

static const struct port *known(struct beam_handle *b, ERL_NIF_TERM port)
{
	struct port *p = b->ports != NULL ? place(b, port) : NULL;

	return p != NULL && atomic_load_explicit(&p->port, memory_order_acquire) == port ? p : NULL;
}

static uint64_t text(const char *s)
{
	return (uint64_t)(uintptr_t)s;
}

/* Process, port and name, which most of these probes begin with. */
static unsigned start(struct beam_event *ev, ERL_NIF_TERM process, uint64_t *arg)
{
	const struct port *p = known(ev->b, ev->pid);
	unsigned strings = 2;

	arg[0] = text("");
	if (enif_is_pid(ev->env, process) || enif_is_port(ev->env, process)) {
		arg[0] = beam_str(beam_term_text(process));
		strings |= 1;
	}
	arg[1] = beam_str(beam_term_text(ev->pid));
	arg[2] = text(p != NULL ? p->name : "");
	return strings;
}

static void on_open(struct beam_event *ev, ERL_NIF_TERM process, ERL_NIF_TERM name)
{
	struct en_probe *p = ev->b->probe[BP_PORT_OPEN];
	uint64_t arg[3], port;
	unsigned strings;

	beam_port_note(ev->b, ev->env, ev->pid, process, name);
	if (!en_enabled(p))
		return;
	strings = start(ev, process, arg); /* here the name stands before the port */
	port = arg[1];
	arg[1] = arg[2];
	arg[2] = port;
	en_fire(p, arg, (strings & 1) | 4, &ev->who);
}

static void on_closed(struct beam_event *ev, ERL_NIF_TERM reason)
{
	const struct port *known_port = known(ev->b, ev->pid);
	struct en_probe *p = ev->b->probe[BP_PORT_EXIT];
	char why[256];
	uint64_t arg[4];
	unsigned strings;

	if (en_enabled(p)) {
		strings = start(ev, known_port != NULL ? known_port->owner : atom_undefined, arg);
		enif_snprintf(why, sizeof(why), "%T", reason);
		arg[3] = text(why);
		en_fire(p, arg, strings, &ev->who);
	}
	if (known_port != NULL)
		atomic_store_explicit(&place(ev->b, ev->pid)->port, 0, memory_order_release);
}

static uint64_t bytes_of(ErlNifEnv *env, ERL_NIF_TERM data)
{
	ERL_NIF_TERM head;
	ErlNifBinary bin;
	uint64_t n = 0;

	if (enif_is_binary(env, data))
		return enif_inspect_binary(env, data, &bin) ? bin.size : 0;
	for (int i = 0; i < 10000 && enif_get_list_cell(env, data, &head, &data); i++)
		if (enif_inspect_binary(env, head, &bin))
			n += bin.size;
	return n;
}

static void fire_port(
	struct beam_event *ev, enum beam_probe id, ERL_NIF_TERM process, uint64_t a3, uint64_t a4)
{
	struct en_probe *p = ev->b->probe[id];
	uint64_t arg[5];
	unsigned strings;

	if (!en_enabled(p))
		return;
	strings = start(ev, process, arg);
	arg[3] = a3;
	arg[4] = a4;
	en_fire(p, arg, strings, &ev->who);
}

static void on_control(struct beam_event *ev, ERL_NIF_TERM process, ERL_NIF_TERM arg, bool call)
{
	const ERL_NIF_TERM *t;
	unsigned cmd;
	int n;

	if (!enif_get_tuple(ev->env, arg, &n, &t) || n != 2 || !enif_get_uint(ev->env, t[0], &cmd))
		return;
	if (!call)
		fire_port(ev, BP_PORT_CONTROL, process, cmd, 0);
	fire_port(ev, call ? BP_DRIVER_CALL : BP_DRIVER_CONTROL, process, cmd,
		bytes_of(ev->env, t[1]));
}

/* {Process, {command | control | call | connect, Data} | close} */
static void on_port_receive(struct beam_event *ev, ERL_NIF_TERM term)
{
	const ERL_NIF_TERM *t, *d;
	char owner[64];
	int n;

	if (!enif_get_tuple(ev->env, term, &n, &t) || n != 2)
		return;
	if (t[1] == atom_close)
		fire_port(ev, BP_PORT_COMMAND, t[0], text("close"), 0);
	if (!enif_get_tuple(ev->env, t[1], &n, &d) || n != 2)
		return;
	if (d[0] == atom_command) {
		fire_port(ev, BP_PORT_COMMAND, t[0], text("command"), 0);
		fire_port(ev, enif_is_binary(ev->env, d[1]) ? BP_DRIVER_OUTPUT : BP_DRIVER_OUTPUTV,
			t[0], bytes_of(ev->env, d[1]), 0);
	} else if (d[0] == atom_control) {
		on_control(ev, t[0], d[1], false);
	} else if (d[0] == atom_call) {
		on_control(ev, t[0], d[1], true);
	} else if (d[0] == atom_connect) {
		enif_snprintf(owner, sizeof(owner), "%T", d[1]);
		fire_port(ev, BP_PORT_CONNECT, t[0], text(owner), 0);
	}
}

void beam_port_event(
	struct beam_event *ev, ERL_NIF_TERM tag, ERL_NIF_TERM term, ERL_NIF_TERM opts)
{
	if (tag == atom_open)
		on_open(ev, term, beam_extra(ev->env, opts));
	else if (tag == atom_closed)
		on_closed(ev, term);
	else if (tag == atom_receive)
		on_port_receive(ev, term);
}
