/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Scripts with probes of the kernel, which a helper runs (c_src/helper/): what a script names, and
 * the stream of its results, read here as those of a script in this node are.
 */
#include <stdlib.h>
#include <string.h>

#include "api/in_node.h"
#include "beam/handle/beam_handle.h"
#include "beam/nif.h"

/* Whose probes a script names. */
struct named {
	bool erlang, kernel;
	bool processes; /* it asks which Erlang process fires */
	struct beam_handle *b;
};

static bool is_of_node(const char *provider)
{
	return strncmp(provider, "erlang", 6) == 0 || strcmp(provider, "state") == 0;
}

/* A provider with a number is of a process: functions, and the probes that a program carries. */
static bool is_of_process(const char *provider)
{
	size_t len = strlen(provider);

	return len > 0 && provider[len - 1] >= '0' && provider[len - 1] <= '9';
}

static bool is_of_erlang_process(const char *variable)
{
	static const char *const names[] = {
		"erlpid", "erllock", "erlname", "erlproc", "erlnode", "erlsched", "erlstate"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(variable, names[i]) == 0)
			return true;
	return false;
}

/* What is done where results are read, the stream may ask for as the script has it. */
static void permit(struct beam_handle *b, const erltrace_scan_item_t *call)
{
	static const char *const names[] = {"system", "freopen", "ftruncate"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(call->name, names[i]) != 0)
			continue;
		if (b->permits == NULL)
			b->permits = erltrace_reader(1, NULL);
		if (b->permits != NULL)
			erltrace_permit(b->permits, names[i], call->text, NULL);
	}
}

static void on_item(void *arg, const erltrace_scan_item_t *item)
{
	struct named *n = arg;

	if (item->kind == ERLTRACE_SCAN_FUNCTION)
		permit(n->b, item);
	if (item->kind == ERLTRACE_SCAN_VARIABLE)
		n->processes |= is_of_erlang_process(item->name);
	if (item->kind != ERLTRACE_SCAN_PROBE)
		return;
	if (is_of_node(item->provider))
		n->erlang = true;
	else
		n->kernel |= item->kernel || is_of_process(item->provider);
	n->erlang |= strncmp(item->name, "profile-wall-", 13) == 0;
}

/*
 * scan(Handle, Source, [Argument]) -> [erlang | kernel | processes]: whose probes the script names,
 * besides those that fire anywhere. What is wrong with it, compiling it tells.
 */
ERL_NIF_TERM nif_scan(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	enum { MOST_ARGS = 256 };
	erltrace_compile_opts_t o = {.size = sizeof(o), .empty = 1};
	ERL_NIF_TERM head, tail = argv[2], list = enif_make_list(env, 0);
	struct named named = {0};
	char *args[MOST_ARGS], *text;
	size_t len = 0;

	WITH_HANDLE(b)
	text = beam_get_text(env, argv[1], &len);
	while (o.argc < MOST_ARGS && enif_get_list_cell(env, tail, &head, &tail) &&
		(args[o.argc] = beam_get_text(env, head, NULL)) != NULL)
		o.argc++;
	o.argv = (const char *const *)args;
	named.b = b;
	if (text != NULL)
		erltrace_scan(b->h, text, len, &o, on_item, &named, NULL);
	free(text);
	while (o.argc > 0)
		free(args[--o.argc]);
	enif_mutex_unlock(b->lock);
	if (named.erlang)
		list = enif_make_list_cell(env, enif_make_atom(env, "erlang"), list);
	if (named.processes)
		list = enif_make_list_cell(env, enif_make_atom(env, "processes"), list);
	if (named.kernel)
		list = enif_make_list_cell(env, enif_make_atom(env, "kernel"), list);
	return list;
}

/* stream(Handle, Bytes): the next ones of the helper's stream; results are those of the stream. */
ERL_NIF_TERM nif_stream(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	erltrace_error_t e = {.tag = ""};
	ERL_NIF_TERM ret = atom_ok;
	ErlNifBinary bytes;

	if (!enif_inspect_binary(env, argv[1], &bytes))
		return beam_badarg(env);
	WITH_HANDLE(b)
	if (b->reader == NULL) {
		b->reader = b->permits != NULL ? b->permits : erltrace_reader(1, &e);
		b->permits = NULL;
	}
	if (b->reader == NULL || erltrace_feed(b->reader, 0, bytes.data, bytes.size, &e) < 0)
		ret = beam_error(env, &e);
	enif_mutex_unlock(b->lock);
	return ret;
}

/* stream_end(Handle): nothing more of it comes. */
ERL_NIF_TERM nif_stream_end(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	WITH_HANDLE(b)
	if (b->reader != NULL)
		erltrace_feed_end(b->reader, 0);
	enif_mutex_unlock(b->lock);
	return atom_ok;
}

/* helped(Handle, Ns, Fired): what the script has taken there, and how often it has fired, so far. */
ERL_NIF_TERM nif_helped(ErlNifEnv *env, int argc, const ERL_NIF_TERM argv[])
{
	struct beam_handle *b = beam_get(env, argv[0]);
	ErlNifUInt64 ns, fired;

	(void)argc;
	if (!enif_get_uint64(env, argv[1], &ns) || !enif_get_uint64(env, argv[2], &fired))
		return beam_badarg(env);
	if (b == NULL) /* another library's */
		return atom_closed;
	atomic_store(&b->cost.helped, ns);
	atomic_store(&b->cost.fired, fired);
	return atom_ok;
}
