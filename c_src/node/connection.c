/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A connection to a node, as a hidden C node. Our name is one of a small pool, so that commands do
 * not fill the node's atom table; epmd does not know it. (A dynamic name would do the same, but for
 * that net_kernel loads crypto: a stall, and for ever if all dirty I/O schedulers are taken.) Ticks
 * are answered whenever we receive, so somebody must; nd_receive() waits in poll(), where a
 * signal ends the wait and not the connection. Frames are read here and not by ei, which trusts
 * what comes (frame.h, etf.h).
 */
#include "connection.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "cancel.h"
#include "decode.h"
#include "handshake.h"

enum { CONNECT_MS = 5000, RPC_MS = 60000, READ_MS = 10000, WRITE_MS = 10000, CUT_MS = 5000 };
enum { SETUP_MS = 5000, SETUP_TIMES = 3 }; /* nodes give up after 7 s (net_setuptime) */
enum { OWN_NAMES = 256 };
enum { CONNECTED, GAVE_UP, NAME_TAKEN }; /* what became of a try */

void nd_hang_up(struct nd *n)
{
	if (n->fd >= 0)
		ei_close_connection(n->fd);
	n->fd = -1;
}

static int gone(struct nd *n, struct et_error *e)
{
	nd_hang_up(n);
	return et_err(e, ET_GONE, "the node %s has gone away", n->name);
}

/* ---- connecting ------------------------------------------------------------------------ */

/* "demo@host" or "demo", with epmd's port for it. */
static int find_port(const char *alive, const char *host, struct et_error *e)
{
	struct nd_names names;
	char known[512] = "";
	size_t len = 0;
	int port = -1;

	if (nd_names(host, &names, e) < 0)
		return -1;
	for (int i = 0; i < names.n; i++) {
		if (strcmp(names.v[i].name, alive) == 0)
			port = names.v[i].port;
		if (len < sizeof(known) - 1)
			len += (size_t)snprintf(known + len, sizeof(known) - len, "%s%s",
				i > 0 ? ", " : "", names.v[i].name);
	}
	if (port < 0 && names.n == 0)
		et_err(e, ET_NODE, "no node %s: epmd knows no node at all", alive);
	else if (port < 0)
		et_err(e, ET_NODE, "no node %s: epmd knows %s", alive, known);
	nd_names_free(&names);
	return port;
}

/* The n-th name of the pool, with a creation of this connection's own. */
static int init_name(struct nd *n, unsigned int nth, struct handshake_check *setup,
	const struct nd_cookie *cookie)
{
	char host[128] = "localhost", alive[32], node[sizeof(host) + sizeof(alive)];
	uint32_t creation;
	int rc;

	gethostname(host, sizeof(host) - 1);
	host[strcspn(host, ".")] = '\0';
	snprintf(alive, sizeof(alive), "erltrace-%u", nth % OWN_NAMES + 1);
	snprintf(node, sizeof(node), "%s@%s", alive, host);
	rc = ei_connect_xinit_ussi(&n->ec, host, alive, node, NULL, cookie->text, 0,
		&handshake_sockets, sizeof(handshake_sockets), setup);
	if (rc < 0)
		return rc;
	/* Nodes take 0 to 3 for those of an old node. ei itself would have 16 bits of it. */
	if (getrandom(&creation, sizeof(creation), GRND_NONBLOCK) != sizeof(creation))
		creation = (uint32_t)nd_now_ms();
	n->ec.creation = n->ec.self.creation = creation | 4;
	return 0;
}

/* CONNECTED; GAVE_UP: the node did, as the handshake took too long; NAME_TAKEN; or -1. */
static int connect_once(struct nd *n, unsigned int nth, const char *host, int port,
	const struct port_check *check, struct et_error *e)
{
	const int64_t began = nd_now_ms();
	const struct nd_cookie *cookie = check->cookie;
	struct handshake_check setup = {.port = check, .e = e, .slow = n->slow};
	const unsigned int cut_ms = CUT_MS;
	struct in_addr addr;

	if (nd_address(host, &addr, e) < 0 || port_check_listener(check, addr, port, e) < 0)
		return -1;
	if (init_name(n, nth, &setup, cookie) < 0)
		return et_err(e, ET_EI, "the cookie of %s is too long", cookie->file);
	n->fd = ei_xconnect_host_port_tmo(&n->ec, &addr, port, CONNECT_MS);
	n->slow = setup.slow;
	if (n->fd >= 0) {
		/* A cut is seen by what we sent: the other machine acknowledges it, or has gone. */
		setsockopt(n->fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &cut_ms, sizeof(cut_ms));
		return CONNECTED;
	}
	if (setup.refused)
		return -1;
	if (setup.taken)
		return NAME_TAKEN;
	if (setup.tls)
		return et_err(e, ET_NODE,
			"the node %s wants TLS on port %d (-proto_dist inet_tls), which this "
			"command does not speak: the application erltrace in the node runs "
			"scripts there",
			n->name, port);
	if (n->fd == ERL_CONNECT_FAIL || erl_errno == ETIMEDOUT)
		return et_err(e, ET_NODE, "the node %s does not answer on port %d: %s%s", n->name,
			port, strerror(erl_errno),
			erl_errno == ETIMEDOUT
				? "; its net_kernel, its code server or its I/O threads may be stuck, or "
				  "its schedulers are taken (as root -p PID looks at it from outside)"
				: "");
	if (erl_errno == EBADMSG)
		return et_err(e, ET_NODE, "what answers for %s on port %d is not an Erlang node",
			n->name, port);
	if (erl_errno == ENOTCONN)
		return et_err(e, ET_NODE,
			"the node %s has hung up on port %d: it is starting or ending, or accepts "
			"no connections",
			n->name, port);
	if (nd_now_ms() - began >= SETUP_MS)
		return GAVE_UP;
	return et_err(e, ET_COOKIE,
		"the node %s does not accept the cookie of %s: --cookie-file names another file",
		n->name, cookie->file);
}

static int connect_to(struct nd *n, const char *host, int port, const struct port_check *check,
	struct et_error *e)
{
	static atomic_uint connections;
	unsigned int nth = (unsigned int)getpid() + atomic_fetch_add(&connections, 1);
	int gave_up = 0, taken = 0;

	while (gave_up < SETUP_TIMES && taken < OWN_NAMES) {
		int rc = connect_once(n, nth++, host, port, check, e);

		if (rc != GAVE_UP && rc != NAME_TAKEN)
			return rc;
		gave_up += rc == GAVE_UP;
		taken += rc == NAME_TAKEN;
	}
	if (taken == OWN_NAMES)
		return et_err(e, ET_NODE,
			"the node %s is traced by %d commands of this host already", n->name,
			OWN_NAMES);
	return et_err(e, ET_NODE,
		"the node %s is too busy: %d times it gave up connecting on port %d", n->name,
		SETUP_TIMES, port);
}

/* The next of several results, as text. */
static void next_text(ei_x_buff *res, char *text, size_t size)
{
	int type, len;

	text[0] = '\0';
	if (ei_get_type(res->buff, &res->index, &type, &len) < 0 || (size_t)len >= size ||
		ei_decode_string(res->buff, &res->index, text) < 0)
		nd_skip(res, &res->index);
}

/* [{Node, Port}]: the port of our own connection, as a term. */
static void find_connection(struct nd *n, ei_x_buff *res)
{
	char node[MAXATOMLEN_UTF8];
	int count = 0, from;

	ei_decode_list_header(res->buff, &res->index, &count);
	for (int i = 0; i < count; i++) {
		if (nd_get_tuple(res, &res->index, 2) < 0 ||
			nd_get_atom(res, &res->index, node, sizeof(node)) < 0)
			break;
		from = res->index;
		if (nd_skip(res, &res->index) < 0)
			break;
		if (n->connection.buff != NULL || strcmp(node, ei_self(&n->ec)->node) != 0)
			continue;
		ei_x_new(&n->connection);
		ei_x_append_buf(&n->connection, res->buff + from, res->index - from);
	}
	if (count > 0)
		ei_decode_list_header(res->buff, &res->index, &count); /* its end */
}

/* What a node says of itself; nothing that it would need a disk or a code server for. */
static int ask_who(struct nd *n, struct et_error *e)
{
	static const struct {
		const char *mod, *fun, *format, *arg;
	} calls[] = {{"os", "getpid", "[]", NULL}, {"erlang", "node", "[]", NULL},
		{"erlang", "system_info", "[~a]", "otp_release"},
		{"erlang", "system_info", "[~a]", "system_architecture"},
		{"erlang", "system_info", "[~a]", "dist_ctrl"},
		{"erlang", "system_info", "[~a]", "atom_count"},
		{"erlang", "system_info", "[~a]", "atom_limit"}};
	struct nd_calls c = {.n = 0};
	char pid[32];
	ei_x_buff res = {0};
	long long atoms = 0, limit = 0;

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		ei_x_buff args = {0};

		ei_x_new(&args);
		ei_x_format_wo_ver(&args, calls[i].format, calls[i].arg);
		nd_calls_add(&c, calls[i].mod, calls[i].fun, &args);
		ei_x_free(&args);
	}
	ei_x_new(&res);
	if (nd_calls(n, &c, &res, e) < 0) {
		ei_x_free(&res);
		return -1;
	}
	next_text(&res, pid, sizeof(pid));
	n->ospid = atoll(pid);
	nd_get_atom(&res, &res.index, n->name, sizeof(n->name));
	next_text(&res, n->otp, sizeof(n->otp));
	next_text(&res, n->arch, sizeof(n->arch));
	find_connection(n, &res);
	if (ei_decode_longlong(res.buff, &res.index, &atoms) == 0 &&
		ei_decode_longlong(res.buff, &res.index, &limit) == 0)
		n->atoms_left = limit - atoms;
	ei_x_free(&res);
	if (n->otp[0] == '\0' || n->arch[0] == '\0')
		return et_err(e, ET_RPC, "the node %s does not report its release", n->name);
	if (n->connection.buff == NULL)
		return et_err(e, ET_RPC, "the node %s does not know our connection", n->name);
	return 0;
}

/* What epmd says of a port need not be true. */
static int check_name(const struct nd *n, const char *alive, struct et_error *e)
{
	size_t len = strlen(alive);

	if (!nd_is_name(n->name))
		return et_err(
			e, ET_NODE, "the node %s reports a name that no node can have", alive);
	if (strncmp(n->name, alive, len) == 0 && n->name[len] == '@')
		return 0;
	return et_err(e, ET_NODE, "epmd has a port for the node %s, but the node there is %s",
		alive, n->name);
}

struct nd *nd_connect(const char *name, int port, const struct nd_cookie *cookie,
	const struct nd_accept *accept, struct et_error *e)
{
	const struct port_check check = {.name = name, .cookie = cookie, .accept = accept};
	struct nd *n = calloc(1, sizeof(*n));
	char alive[ND_NAME], *host;

	if (n == NULL || ei_init() != 0) {
		et_err(e, ET_NOMEM, "out of memory");
		free(n);
		return NULL;
	}
	n->fd = -1;
	snprintf(n->name, sizeof(n->name), "%s", name);
	snprintf(alive, sizeof(alive), "%s", name);
	host = strchr(alive, '@');
	if (host != NULL)
		*host++ = '\0';
	if (port == 0)
		port = find_port(alive, host, e);
	if (port < 0 || connect_to(n, host, port, &check, e) < 0 || ask_who(n, e) < 0 ||
		check_name(n, alive, e) < 0) {
		nd_close(n);
		return NULL;
	}
	return n;
}

struct nd_kept {
	struct nd_kept *next;
	ei_x_buff msg;
};

static void drop_kept(struct nd *n)
{
	struct nd_kept *k = n->kept;

	n->kept = k->next;
	ei_x_free(&k->msg);
	free(k);
}

void nd_close(struct nd *n)
{
	if (n == NULL)
		return;
	if (n->fd >= 0)
		ei_close_connection(n->fd);
	while (n->kept != NULL)
		drop_kept(n);
	ei_x_free(&n->connection);
	free(n->frame.bytes);
	free(n);
}

/* ---- messages -------------------------------------------------------------------------- */

/* Bytes that no node sends: the next frame cannot be found. */
static int broken(struct nd *n, struct et_error *e)
{
	gone(n, e);
	et_err_clear(e);
	return et_err(e, ET_GONE,
		"the connection with the node %s is broken: what came is not an Erlang message",
		n->name);
}

/* The frame's buffer for the message's: ei's are malloc()ed too. It ends where the frame does. */
static void swap(struct frame *f, ei_x_buff *msg, size_t at)
{
	ei_x_buff old = *msg;

	*msg = (ei_x_buff){.buff = f->bytes, .buffsz = (int)f->len, .index = (int)at};
	f->bytes = old.buff;
	f->room = old.buff != NULL ? (size_t)old.buffsz : 0;
}

/* A whole frame: 1: a message for us; 0: something else. */
static int on_frame(struct nd *n, ei_x_buff *msg, struct et_error *e)
{
	struct frame_message m;

	if (n->frame.len == 0)
		return frame_tick(n->fd, WRITE_MS) < 0 ? gone(n, e) : 0;
	if (frame_message(n->frame.bytes, n->frame.len, &m) < 0)
		return broken(n, e);
	if (m.kind == FRAME_UNLINK)
		return frame_unlinked(n->fd, &m, WRITE_MS) < 0 ? gone(n, e) : 0;
	if (m.kind == FRAME_OTHER)
		return 0;
	/* A message for the last command that had our name is not for us. */
	if (m.kind == FRAME_SEND && m.creation != ei_self(&n->ec)->creation)
		return 0;
	swap(&n->frame, msg, m.at);
	return 1;
}

/* One that has begun goes on, or the node is stuck. */
static bool is_stuck(struct nd *n)
{
	size_t begun = frame_begun(&n->frame);

	if (begun == 0 || begun != n->begun)
		n->begun_at = nd_now_ms();
	n->begun = begun;
	return begun > 0 && nd_now_ms() - n->begun_at > READ_MS;
}

static int receive(struct nd *n, ei_x_buff *msg, int ms, struct et_error *e)
{
	struct pollfd fd = {.fd = n->fd, .events = POLLIN};
	int rc;

	if (n->fd < 0)
		return gone(n, e);
	rc = nd_poll(&fd, ms);
	if (rc < 0)
		return errno == EINTR ? 0 : gone(n, e);
	if (rc == 0)
		return is_stuck(n) ? gone(n, e) : 0;
	rc = frame_read(&n->frame, n->fd);
	if (rc > 0)
		return on_frame(n, msg, e);
	if (rc < 0)
		return rc == -2 ? broken(n, e) : gone(n, e);
	return is_stuck(n) ? gone(n, e) : 0;
}

/* Behind those that are kept already. The copy has the buffer, the message a new one. */
static int keep(struct nd *n, ei_x_buff *msg)
{
	struct nd_kept *k = malloc(sizeof(*k)), **at = &n->kept;

	if (k == NULL)
		return -1;
	*k = (struct nd_kept){.msg = *msg};
	while (*at != NULL)
		at = &(*at)->next;
	*at = k;
	return ei_x_new(msg);
}

bool nd_waiting(const struct nd *n)
{
	return n->kept != NULL;
}

int nd_receive(struct nd *n, ei_x_buff *msg, int ms, struct et_error *e)
{
	ei_x_buff old = *msg;

	if (n->kept == NULL)
		return receive(n, msg, ms, e);
	*msg = n->kept->msg;
	n->kept->msg = old;
	drop_kept(n);
	return 1;
}

/* One that has hung up may have said something before, which is still to be read. */
int nd_send(struct nd *n, const erlang_pid *to, const ei_x_buff *msg, struct et_error *e)
{
	erlang_pid pid = *to;

	if (n->fd < 0)
		return gone(n, e);
	if (!n->hung_up && ei_send_tmo(n->fd, &pid, msg->buff, msg->index, WRITE_MS) == 0)
		return 0;
	n->hung_up |= erl_errno == EPIPE || erl_errno == ECONNRESET;
	return n->hung_up ? et_err(e, ET_GONE, "the node %s has gone away", n->name) : gone(n, e);
}

int nd_send_atom(struct nd *n, const erlang_pid *to, const char *atom, struct et_error *e)
{
	ei_x_buff x;
	int rc;

	ei_x_new_with_version(&x);
	ei_x_encode_atom(&x, atom);
	rc = nd_send(n, to, &x, e);
	ei_x_free(&x);
	return rc;
}

/* What a call fails with says what the caller may do about it. */
static enum et_tag tag_of(const char *reason)
{
	static const struct {
		const char *reason;
		enum et_tag tag;
	} tags[] = {{"badarg", ET_BADARG}, {"undef", ET_UNDEF}, /* there is no such function */
		{"noproc", ET_UNDEF}, /* no such process; and it has ended: */
		{"normal", ET_UNDEF}, {"killed", ET_UNDEF}, {"timeout", ET_TIMEOUT}};

	for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++)
		if (strcmp(reason, tags[i].reason) == 0)
			return tags[i].tag;
	return ET_RPC;
}

/* {badrpc, Reason} in a few words; the term itself is not printed, it is not ours to trust. */
static int bad_rpc(struct nd *n, const char *mod, const char *fun, ei_x_buff *x, struct et_error *e)
{
	char atom[MAXATOMLEN] = "";
	int at = x->index;

	if (nd_get_tuple(x, &at, 2) < 0 || nd_get_atom(x, &at, atom, sizeof(atom)) < 0 ||
		strcmp(atom, "badrpc") != 0)
		return 0;
	/* {'EXIT', {undef, ..}}, or timeout */
	if (nd_get_tuple(x, &at, 2) == 0 && nd_get_atom(x, &at, atom, sizeof(atom)) == 0)
		nd_get_tuple(x, &at, 2);
	nd_get_atom(x, &at, atom, sizeof(atom));
	return et_err(e, tag_of(atom), "the node %s failed in %s:%s: %s", n->name, mod, fun, atom);
}

int nd_rpc(struct nd *n, const char *mod, const char *fun, const ei_x_buff *args, ei_x_buff *result,
	struct et_error *e)
{
	char m[MAXATOMLEN], f[MAXATOMLEN], atom[MAXATOMLEN];
	int64_t until = nd_now_ms() + RPC_MS;
	int at, rc;

	snprintf(m, sizeof(m), "%s", mod);
	snprintf(f, sizeof(f), "%s", fun);
	if (n->fd < 0 || ei_rpc_to(&n->ec, n->fd, m, f, args->buff, args->index) < 0)
		return gone(n, e);
	while (nd_now_ms() < until) {
		rc = receive(n, result, (int)(until - nd_now_ms()), e);
		if (rc < 0)
			return rc;
		if (rc == 0)
			continue;
		at = result->index;
		if (nd_get_tuple(result, &at, 2) < 0 ||
			nd_get_atom(result, &at, atom, sizeof(atom)) < 0 ||
			strcmp(atom, "rex") != 0) {
			if (keep(n, result) < 0)
				return et_err(e, ET_NOMEM, "out of memory");
			continue;
		}
		result->index = at;
		return bad_rpc(n, mod, fun, result, e);
	}
	return et_err(e, ET_RPC,
		"the node %s is connected, but has not answered a call (%s:%s) for %d s: it is "
		"suspended or overloaded, or its process rex does not run (as root -p PID looks at "
		"it from outside)",
		n->name, mod, fun, RPC_MS / 1000);
}

int nd_rpc_within(struct nd *n, int ms, const char *mod, const char *fun, const ei_x_buff *args,
	ei_x_buff *result, struct et_error *e)
{
	ei_x_buff x = {0};
	int rc;

	ei_x_new(&x);
	ei_x_encode_list_header(&x, 5);
	ei_x_encode_atom(&x, n->name);
	ei_x_encode_atom(&x, mod);
	ei_x_encode_atom(&x, fun);
	ei_x_append(&x, args);
	ei_x_encode_long(&x, ms);
	ei_x_encode_empty_list(&x);
	rc = nd_rpc(n, "rpc", "call", &x, result, e);
	ei_x_free(&x);
	return rc;
}

/* lists:zipwith3(fun erlang:apply/3, Modules, Functions, Arguments) */
void nd_calls_add(struct nd_calls *c, const char *mod, const char *fun, const ei_x_buff *args)
{
	if (c->n++ == 0) {
		ei_x_new(&c->mods);
		ei_x_new(&c->funs);
		ei_x_new(&c->args);
	}
	ei_x_encode_list_header(&c->mods, 1);
	ei_x_encode_atom(&c->mods, mod);
	ei_x_encode_list_header(&c->funs, 1);
	ei_x_encode_atom(&c->funs, fun);
	ei_x_encode_list_header(&c->args, 1);
	ei_x_append(&c->args, args);
}

int nd_calls(struct nd *n, struct nd_calls *c, ei_x_buff *result, struct et_error *e)
{
	static const char export_ext = 'q'; /* fun M:F/A */
	ei_x_buff x = {0};
	int rc, count = 0;

	ei_x_encode_empty_list(&c->mods);
	ei_x_encode_empty_list(&c->funs);
	ei_x_encode_empty_list(&c->args);
	ei_x_new(&x);
	ei_x_encode_list_header(&x, 4);
	ei_x_append_buf(&x, &export_ext, 1);
	ei_x_encode_atom(&x, "erlang");
	ei_x_encode_atom(&x, "apply");
	ei_x_encode_long(&x, 3);
	ei_x_append(&x, &c->mods);
	ei_x_append(&x, &c->funs);
	ei_x_append(&x, &c->args);
	ei_x_encode_empty_list(&x);
	rc = nd_rpc(n, "lists", "zipwith3", &x, result, e);
	if (rc == 0 &&
		(ei_decode_list_header(result->buff, &result->index, &count) < 0 || count != c->n))
		rc = et_err(e, ET_RPC, "the node %s replied with something unexpected", n->name);
	ei_x_free(&x);
	ei_x_free(&c->mods);
	ei_x_free(&c->funs);
	ei_x_free(&c->args);
	return rc;
}
