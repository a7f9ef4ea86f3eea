/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events of ports (probe path). They come without a process's environment, under the port's lock.
 * Names and owners of ports are noted when tracing begins and at each open: an event does not
 * tell them.
 */
#include <stdlib.h>
#include <string.h>

#include "beam/handle/beam_handle.h"
#include "beam/term/term_print.h"
#include "beam/term/texts.h"
#include "beam/vm/vm_event.h"
#include "compiler.h"
#include "engine/probe.h"
#include "ports.h"
#include "tracer.h"

#define PORTS	4096 /* a power of two */
#define TRIES	8    /* slots for a port, from its own on: without one it has no name */
#define BUSY	1    /* no port's term */
#define DRIVERS 64

/* What a run of a port by the VM's scheduler has been so far. */
enum { RUN_NONE, RUN_IO, RUN_CLOSED };

struct port {
	_Atomic uint64_t port;
	_Atomic ERL_NIF_TERM owner;
	_Atomic uint8_t run; /* who needs a slot looks at those of other ports */
	char driver[31];
	char name[256];
};

struct beam_ports {
	struct port port[PORTS + TRIES];
	_Atomic unsigned ndrivers;
	char driver[DRIVERS][32];
};

static struct port *slot(struct beam_handle *b, ERL_NIF_TERM port)
{
	return &b->ports->port[(port * 0x9e3779b97f4a7c15ULL) >> 40 & (PORTS - 1)];
}

int beam_ports_init(struct beam_handle *b)
{
	if (b->ports == NULL)
		b->ports = calloc(1, sizeof(*b->ports));
	return b->ports == NULL ? -1 : 0;
}

/* An atom or a string, as it is: no quotes. */
PROBE_PATH static void get_name(ErlNifEnv *env, ERL_NIF_TERM t, char *buf, unsigned size)
{
	if (enif_get_atom(env, t, buf, size, ERL_NIF_LATIN1) <= 0 &&
		enif_get_string(env, t, buf, size, ERL_NIF_LATIN1) == 0)
		enif_snprintf(buf, size, "%T", t);
	buf[size - 1] = '\0';
}

PROBE_PATH void beam_driver_note(struct beam_handle *b, ErlNifEnv *env, ERL_NIF_TERM name)
{
	unsigned n;

	if (b->ports == NULL)
		return;
	n = atomic_fetch_add(&b->ports->ndrivers, 1);
	if (n < DRIVERS)
		get_name(env, name, b->ports->driver[n], sizeof(b->ports->driver[n]));
	else
		atomic_fetch_sub(&b->ports->ndrivers, 1);
}

/*
 * Which driver a port of this name has: the one that its first word names; "0/1" and the like are
 * files; anything else is a program.
 */
static void find_driver(struct beam_ports *ports, struct port *p)
{
	unsigned n = atomic_load_explicit(&ports->ndrivers, memory_order_acquire);
	size_t len = strcspn(p->name, " ");

	for (unsigned i = 0; i < n && i < DRIVERS; i++)
		if (strlen(ports->driver[i]) == len &&
			memcmp(ports->driver[i], p->name, len) == 0) {
			memcpy(p->driver, ports->driver[i], sizeof(p->driver));
			p->driver[sizeof(p->driver) - 1] = '\0';
			return;
		}
	strcpy(p->driver, p->name[strspn(p->name, "0123456789/")] == '\0' ? "fd" : "spawn");
}

PROBE_PATH void beam_port_note(struct beam_handle *b, ErlNifEnv *env, ERL_NIF_TERM port,
	ERL_NIF_TERM owner, ERL_NIF_TERM name)
{
	struct port *p;

	if (b->ports == NULL)
		return;
	p = slot(b, port);
	for (struct port *end = p + TRIES; p < end; p++) {
		uint64_t old = atomic_load_explicit(&p->port, memory_order_acquire);

		if (old == port)
			return;
		/* a closed one may be flushed still: it is known until its slot is needed */
		if (old == BUSY || (old != 0 && p->run != RUN_CLOSED) ||
			!atomic_compare_exchange_strong(&p->port, &old, BUSY))
			continue;
		p->owner = owner;
		p->run = RUN_NONE;
		get_name(env, name, p->name, sizeof(p->name));
		find_driver(b->ports, p);
		atomic_store_explicit(&p->port, port, memory_order_release);
		return;
	}
}

PROBE_PATH static struct port *known(struct beam_handle *b, ERL_NIF_TERM port)
{
	struct port *p = b->ports != NULL ? slot(b, port) : NULL;

	for (int i = 0; p != NULL && i < TRIES; i++, p++)
		if (atomic_load_explicit(&p->port, memory_order_acquire) == port)
			return p;
	return NULL;
}

static uint64_t text(const char *s)
{
	return (uint64_t)(uintptr_t)s;
}

static ERL_NIF_TERM owner_of(struct beam_event *ev)
{
	const struct port *p = known(ev->b, ev->cur.key);

	return p != NULL ? p->owner : atom_undefined;
}

/* The text of a process, or of a port that is in the place of one; false: it is none, "". */
static bool process_arg(ErlNifEnv *env, ERL_NIF_TERM process, uint64_t *arg)
{
	bool known = enif_is_pid(env, process) || enif_is_port(env, process);

	*arg = known ? beam_str(beam_term_text(process)) : text("");
	return known;
}

/*
 * Most of these probes begin with process, port and name, as driver-control does; two numbers or
 * texts may follow.
 */
PROBE_PATH static void fire_port(
	struct beam_event *ev, enum beam_probe id, ERL_NIF_TERM process, uint64_t a3, uint64_t a4)
{
	struct en_probe *p = ev->b->probe[id];
	unsigned strings = ARG_BIT(DRIVER_CONTROL, port);
	const struct port *port;
	uint64_t arg[5];

	if (!en_enabled(p))
		return;
	port = known(ev->b, ev->cur.key);
	if (process_arg(ev->env, process, &arg[ARG(DRIVER_CONTROL, process)]))
		strings |= ARG_BIT(DRIVER_CONTROL, process);
	arg[ARG(DRIVER_CONTROL, port)] = beam_str(beam_term_text(ev->cur.key));
	arg[ARG(DRIVER_CONTROL, name)] = text(port != NULL ? port->name : "");
	arg[ARG(DRIVER_CONTROL, name) + 1] = a3;
	arg[ARG(DRIVER_CONTROL, name) + 2] = a4;
	en_fire(p, arg, strings, &ev->cur);
}
#define LIKE_CONTROL(ID)                                                                           \
	BEAM_SAME_ARG(DRIVER_CONTROL, ID, process);                                                \
	BEAM_SAME_ARG(DRIVER_CONTROL, ID, port);                                                   \
	BEAM_SAME_ARG(DRIVER_CONTROL, ID, name)
LIKE_CONTROL(DRIVER_CALL);
LIKE_CONTROL(DRIVER_OUTPUT);
LIKE_CONTROL(DRIVER_OUTPUTV);
LIKE_CONTROL(DRIVER_FLUSH);
LIKE_CONTROL(DRIVER_READY_INPUT);
LIKE_CONTROL(DRIVER_READY_OUTPUT);
LIKE_CONTROL(PORT_EXIT);
LIKE_CONTROL(PORT_COMMAND);
LIKE_CONTROL(PORT_CONTROL);
LIKE_CONTROL(PORT_CONNECT);

/* The same with a name before the port: port-open, and of the driver in its start and stop. */
PROBE_PATH static void fire_named(struct beam_event *ev, enum beam_probe id, ERL_NIF_TERM process)
{
	struct en_probe *p = ev->b->probe[id];
	unsigned strings = ARG_BIT(PORT_OPEN, port);
	const struct port *port;
	uint64_t arg[3];

	if (!en_enabled(p))
		return;
	port = known(ev->b, ev->cur.key);
	if (process_arg(ev->env, process, &arg[ARG(PORT_OPEN, process)]))
		strings |= ARG_BIT(PORT_OPEN, process);
	arg[ARG(PORT_OPEN, name)] =
		text(port == NULL ? "" : id == BP_PORT_OPEN ? port->name : port->driver);
	arg[ARG(PORT_OPEN, port)] = beam_str(beam_term_text(ev->cur.key));
	en_fire(p, arg, strings, &ev->cur);
}
BEAM_SAME_ARG(PORT_OPEN, DRIVER_START, process);
BEAM_SAME_ARG(PORT_OPEN, DRIVER_START, port);
BEAM_SAME_ARG(PORT_OPEN, DRIVER_STOP, process);
BEAM_SAME_ARG(PORT_OPEN, DRIVER_STOP, port);

/* ---- runs by the scheduler ------------------------------------------------------------- */

/*
 * A run without a signal in it was for a file descriptor or a timer; which of them, and in which
 * direction, is not told.
 */
PROBE_PATH static void end_run(struct beam_event *ev)
{
	struct port *p = known(ev->b, ev->cur.key);

	if (p == NULL || p->run != RUN_IO)
		return;
	p->run = RUN_NONE;
	fire_port(ev, BP_DRIVER_READY_INPUT, p->owner, 0, 0);
	fire_port(ev, BP_DRIVER_READY_OUTPUT, p->owner, 0, 0);
}

static void on_in(struct beam_event *ev, ERL_NIF_TERM what)
{
	struct port *p = known(ev->b, ev->cur.key);

	if (what == atom_open)
		fire_named(ev, BP_DRIVER_START, owner_of(ev));
	else if (what == atom_flush)
		fire_port(ev, BP_DRIVER_FLUSH, owner_of(ev), 0, 0);
	else if (p != NULL && p->run != RUN_CLOSED)
		p->run = enif_is_atom(ev->env, what) ? RUN_NONE : RUN_IO;
}

/* ---- open and closed ------------------------------------------------------------------- */

static void on_open(struct beam_event *ev, ERL_NIF_TERM process, ERL_NIF_TERM name)
{
	beam_port_note(ev->b, ev->env, ev->cur.key, process, name);
	fire_named(ev, BP_PORT_OPEN, process);
}

static void on_closed(struct beam_event *ev, ERL_NIF_TERM reason)
{
	struct port *port = known(ev->b, ev->cur.key);
	char why[256];

	end_run(ev);
	if (en_enabled(ev->b->probe[BP_PORT_EXIT])) {
		beam_print(ev->env, reason, false, why, sizeof(why)); /* of any size */
		fire_port(ev, BP_PORT_EXIT, owner_of(ev), text(why), 0);
	}
	fire_named(ev, BP_DRIVER_STOP, owner_of(ev));
	if (port != NULL)
		port->run = RUN_CLOSED;
}

/* ---- signals --------------------------------------------------------------------------- */

PROBE_PATH static uint64_t bytes_of(ErlNifEnv *env, ERL_NIF_TERM data)
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

PROBE_PATH static void on_control(
	struct beam_event *ev, ERL_NIF_TERM process, ERL_NIF_TERM arg, bool call)
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

PROBE_PATH static void on_connect(struct beam_event *ev, ERL_NIF_TERM to)
{
	struct port *p = known(ev->b, ev->cur.key);
	char owner[64];

	enif_snprintf(owner, sizeof(owner), "%T", to);
	fire_port(ev, BP_PORT_CONNECT, owner_of(ev), text(owner), 0);
	if (p != NULL)
		p->owner = to;
}

/* {Process, {command | control | call | connect, Data} | close} */
static void on_port_receive(struct beam_event *ev, ERL_NIF_TERM term)
{
	struct port *p = known(ev->b, ev->cur.key);
	const ERL_NIF_TERM *t, *d;
	int n;

	if (p != NULL && p->run != RUN_CLOSED)
		p->run = RUN_NONE;
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
		on_connect(ev, d[1]);
	}
}

PROBE_PATH void beam_port_event(
	struct beam_event *ev, ERL_NIF_TERM tag, ERL_NIF_TERM term, ERL_NIF_TERM opts)
{
	if (tag == atom_open)
		on_open(ev, term, beam_extra(ev->env, opts));
	else if (tag == atom_closed)
		on_closed(ev, term);
	else if (tag == atom_receive)
		on_port_receive(ev, term);
	else if (tag == atom_in)
		on_in(ev, term);
	else if (tag == atom_out)
		end_run(ev);
}

/* erl_ddll:try_load(Path, Name, Options), try_unload(Name, Options) */
PROBE_PATH void beam_driver_call(struct beam_event *ev, bool load, const ERL_NIF_TERM *args)
{
	struct en_probe *p = ev->b->probe[load ? BP_DRIVER_INIT : BP_DRIVER_FINISH];
	uint64_t arg[4] = {0};
	ErlNifSysInfo info;
	char name[256];

	if (load)
		beam_driver_note(ev->b, ev->env, args[1]);
	if (!en_enabled(p))
		return;
	get_name(ev->env, args[load], name, sizeof(name));
	arg[ARG(DRIVER_INIT, driver)] = text(name);
	if (load) {
		enif_system_info(&info, sizeof(info)); /* the VM's own: a driver's is not told */
		arg[ARG(DRIVER_INIT, major)] = (uint64_t)info.driver_major_version;
		arg[ARG(DRIVER_INIT, minor)] = (uint64_t)info.driver_minor_version;
	}
	en_fire(p, arg, 0, &ev->cur);
}
BEAM_SAME_ARG(DRIVER_INIT, DRIVER_FINISH, driver);
