/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Modules of OTP that erltrace's own modules call. A node in interactive mode loads a module when
 * it is first called, which takes its code server and a dirty I/O scheduler. In a node in trouble
 * both may be taken for ever: a disk or a network file system hangs. So what is missing is asked
 * for beforehand, with a time limit, and else read here, from the node's own files, and sent to it.
 */
#include "otp_modules.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cancel.h"
#include "decode.h"
#include "file.h"
#include "proc_file.h"

enum { LOAD_MS = 2000, LOOK_MS = 10, MAX_BEAM = 16 << 20 };

/* All that our modules import and a node has not loaded when it has started
 * (test/erl/beams_tests.erl). */
static const struct otp_module {
	const char *name, *app;
	int since; /* this release of OTP */
} modules[] = {
	{"erl_ddll", "kernel", 0},
	{"erts_debug", "kernel", 0},
	{"gen_statem", "stdlib", 0},
	{"io", "stdlib", 0},
	{"seq_trace", "kernel", 0},
	{"timer", "stdlib", 0},
	{"trace", "kernel", 27},
};

enum { N = sizeof(modules) / sizeof(modules[0]) };

static void one_atom(ei_x_buff *args, const char *atom)
{
	ei_x_new(args);
	ei_x_encode_list_header(args, 1);
	ei_x_encode_atom(args, atom);
	ei_x_encode_empty_list(args);
}

/* Which are missing? -1: the node did not answer. */
static int missing(struct nd *n, bool lacks[N], struct et_error *e)
{
	struct nd_calls c = {.n = 0};
	ei_x_buff args, res = {0};
	char atom[16];
	int count = 0;

	for (int i = 0; i < N; i++) {
		one_atom(&args, modules[i].name);
		nd_calls_add(&c, "erlang", "module_loaded", &args);
		ei_x_free(&args);
	}
	ei_x_new(&res);
	if (nd_calls(n, &c, &res, e) < 0)
		count = -1;
	for (int i = 0; count >= 0 && i < N; i++) {
		lacks[i] = nd_get_atom(&res, &res.index, atom, sizeof(atom)) < 0 ||
			   strcmp(atom, "true") != 0;
		lacks[i] &= atoi(n->otp) >= modules[i].since;
		count += lacks[i];
	}
	ei_x_free(&res);
	return count;
}

/* The last of a list of small numbers, which may come as a string; -1: it is none. */
static long last_number(ei_x_buff *res)
{
	long last = -1;
	int type, n;

	if (ei_get_type(res->buff, &res->index, &type, &n) < 0)
		return -1;
	if (type == ERL_STRING_EXT && n > 0) {
		last = (uint8_t)res->buff[res->index + 2 + n]; /* behind tag and length */
		return nd_skip(res, &res->index) < 0 ? -1 : last;
	}
	if (type != ERL_LIST_EXT || ei_decode_list_header(res->buff, &res->index, &n) < 0)
		return -1;
	for (int i = 0; i < n; i++)
		if (ei_decode_long(res->buff, &res->index, &last) < 0)
			return -1;
	return nd_skip(res, &res->index) < 0 ? -1 : last; /* its tail */
}

/* What waits, or is being done: on dirty I/O schedulers, and by the code server (its mailbox). */
struct work {
	long io, schedulers, calls;
};

/* Of the process whose pid is next in the buffer. */
static int mailbox(struct nd *n, ei_x_buff *res, long *len, struct et_error *e)
{
	struct nd_calls c = {.n = 0};
	int from = res->index, rc = -1;
	ei_x_buff args;

	if (nd_skip(res, &res->index) < 0)
		return -1;
	ei_x_new(&args);
	ei_x_encode_list_header(&args, 2);
	ei_x_append_buf(&args, res->buff + from, res->index - from);
	ei_x_encode_atom(&args, "message_queue_len");
	ei_x_encode_empty_list(&args);
	nd_calls_add(&c, "erlang", "process_info", &args);
	ei_x_free(&args);
	if (nd_calls(n, &c, res, e) == 0 && nd_get_tuple(res, &res->index, 2) == 0 &&
		nd_skip(res, &res->index) == 0)
		rc = ei_decode_long(res->buff, &res->index, len);
	return rc;
}

static int look_at(struct nd *n, struct work *w, struct et_error *e)
{
	static const char *const asked[][2] = {{"statistics", "active_tasks_all"},
		{"system_info", "dirty_io_schedulers"}, {"whereis", "code_server"}};
	struct nd_calls c = {.n = 0};
	ei_x_buff args, res = {0};
	int rc;

	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
		one_atom(&args, asked[i][1]);
		nd_calls_add(&c, "erlang", asked[i][0], &args);
		ei_x_free(&args);
	}
	ei_x_new(&res);
	rc = nd_calls(n, &c, &res, e);
	if (rc == 0) {
		w->io = last_number(&res);
		rc = ei_decode_long(res.buff, &res.index, &w->schedulers);
	}
	if (rc == 0)
		rc = mailbox(n, &res, &w->calls, e);
	ei_x_free(&res);
	return rc;
}

/*
 * A process that asks the code server, or for a file, stays until it is answered. In a node where
 * that is never, each command would leave one: so these are watched until they do something. A node
 * where that cannot be seen is asked.
 */
bool nd_loads(struct nd *n, int ms)
{
	const struct timespec pause = {.tv_nsec = LOOK_MS * 1000000};
	struct et_error ignored = {.tag = ""};
	struct work was = {-1, 0, -1}, is;
	bool io = false, server = false;

	for (int64_t until = nd_now_ms() + ms;; nanosleep(&pause, NULL)) {
		if (look_at(n, &is, &ignored) < 0)
			return true;
		io |= is.io < is.schedulers || is.io < was.io;
		server |= is.calls == 0 || is.calls < was.calls;
		if ((io && server) || nd_now_ms() >= until)
			return io && server;
		was = is;
	}
}

/* By the node's own code server. */
static int by_the_node(struct nd *n, const bool lacks[N], int count, struct et_error *e)
{
	ei_x_buff args = {0}, res = {0};
	int rc;

	if (!nd_loads(n, LOAD_MS))
		return et_err(e, ET_TIMEOUT, "the node %s loads no modules", n->name);
	ei_x_new(&args);
	ei_x_new(&res);
	ei_x_encode_list_header(&args, 1);
	ei_x_encode_list_header(&args, count);
	for (int i = 0; i < N; i++)
		if (lacks[i])
			ei_x_encode_atom(&args, modules[i].name);
	ei_x_encode_empty_list(&args);
	ei_x_encode_empty_list(&args);
	rc = nd_rpc_within(n, LOAD_MS, "code", "ensure_modules_loaded", &args, &res, e);
	ei_x_free(&args);
	ei_x_free(&res);
	return rc;
}

/* A string among the results; {ok, String} too. */
static int next_string(ei_x_buff *res, char *to, int size)
{
	int type, len;

	nd_get_tuple(res, &res->index, 2);
	if (ei_get_type(res->buff, &res->index, &type, &len) == 0 && type == ERL_ATOM_EXT)
		nd_skip(res, &res->index);
	if (ei_get_type(res->buff, &res->index, &type, &len) < 0 || type != ERL_STRING_EXT ||
		len >= size)
		return -1;
	return ei_decode_string(res->buff, &res->index, to);
}

/* Where its applications are: os:getenv("ROOTDIR"), application:get_key(.., vsn). */
struct places {
	char root[ND_PATH], kernel[32], stdlib[32];
};

static int ask_places(struct nd *n, struct places *p, struct et_error *e)
{
	static const char *const apps[] = {"kernel", "stdlib"};
	struct nd_calls c = {.n = 0};
	ei_x_buff args, res = {0};
	int rc;

	ei_x_new(&args);
	ei_x_format_wo_ver(&args, "[~s]", "ROOTDIR");
	nd_calls_add(&c, "os", "getenv", &args);
	ei_x_free(&args);
	for (int i = 0; i < 2; i++) {
		ei_x_new(&args);
		ei_x_format_wo_ver(&args, "[~a,vsn]", apps[i]);
		nd_calls_add(&c, "application", "get_key", &args);
		ei_x_free(&args);
	}
	ei_x_new(&res);
	rc = nd_calls(n, &c, &res, e);
	if (rc == 0 && (next_string(&res, p->root, sizeof(p->root)) < 0 ||
			       next_string(&res, p->kernel, sizeof(p->kernel)) < 0 ||
			       next_string(&res, p->stdlib, sizeof(p->stdlib)) < 0))
		rc = et_err(e, ET_RPC, "the node %s does not say where its OTP is", n->name);
	ei_x_free(&res);
	return rc;
}

static int read_beam(const struct places *p, pid_t pid, const struct otp_module *m, ei_x_buff *to)
{
	char path[2 * ND_PATH];
	char *bytes = NULL;
	size_t len = 0;
	int fd;

	snprintf(path, sizeof(path), "%s/lib/%s-%s/ebin/%s.beam", p->root, m->app,
		strcmp(m->app, "kernel") == 0 ? p->kernel : p->stdlib, m->name);
	fd = fi_open_in(pid, path);
	if (fd >= 0) {
		bytes = file_read_fd(fd, MAX_BEAM, &len);
		close(fd);
	}
	if (bytes == NULL)
		return -1;
	ei_x_encode_binary(to, bytes, (int)len);
	free(bytes);
	return 0;
}

static int load(struct nd *n, const struct places *p, pid_t pid, const struct otp_module *m,
	struct et_error *e)
{
	ei_x_buff args, res = {0};
	char atom[16] = "";
	int rc = 0;

	ei_x_new(&args);
	ei_x_new(&res);
	ei_x_encode_list_header(&args, 2);
	ei_x_encode_atom(&args, m->name);
	if (pid == 0 || read_beam(p, pid, m, &args) < 0)
		rc = et_err(e, ET_TIMEOUT,
			"the node %s does not load OTP's own module %s within %d s: its code "
			"server is stuck, or all its dirty I/O schedulers are taken by processes "
			"that wait for files; on its machine, as root or as its user, erltrace "
			"loads it by itself",
			n->name, m->name, LOAD_MS / 1000);
	ei_x_encode_empty_list(&args);
	if (rc == 0)
		rc = nd_rpc(n, "erlang", "load_module", &args, &res, e);
	if (rc == 0 && (nd_get_tuple(&res, &res.index, 2) < 0 ||
			       nd_get_atom(&res, &res.index, atom, sizeof(atom)) < 0 ||
			       strcmp(atom, "module") != 0))
		rc = et_err(e, ET_RPC, "the node %s does not load OTP's own module %s", n->name,
			m->name);
	ei_x_free(&args);
	ei_x_free(&res);
	return rc;
}

int nd_otp_modules(struct nd *n, struct et_error *e)
{
	struct places p;
	bool lacks[N];
	int rc = missing(n, lacks, e);
	pid_t pid;

	if (rc <= 0)
		return rc;
	rc = by_the_node(n, lacks, rc, e);
	if (rc == 0 || !et_err_is(e, ET_TIMEOUT))
		return rc;
	et_err_clear(e);
	rc = ask_places(n, &p, e);
	pid = nd_peer_process(n->fd);
	for (int i = 0; rc == 0 && i < N; i++)
		if (lacks[i])
			rc = load(n, &p, pid, &modules[i], e);
	return rc;
}
