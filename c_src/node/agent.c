/* SPDX-License-Identifier: Apache-2.0 */
/*
 * erltrace's modules and its NIF library into a node that does not have them, and out again. How
 * commands that come at the same time get on with each other, and what is done about those that are
 * killed, is told in erltrace_loader.erl: this is the command's side of it.
 */
#include "agent.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "decode.h"
#include "file.h"
#include "otp_modules.h"
#include "paths.h"
#include "proc_file.h"
#include "room.h"

enum { MAX_MODULES = 64, MAX_BEAM = 64 << 20, OLDEST_OTP = 25, TRY_MS = 30000, PAUSE_MS = 5 };
enum { SEARCH_MS = 400 }; /* in the node's code path; a node whose files hang has no answer */

#define LOADER "erltrace_loader"

struct files {
	char dir[ND_PATH];	     /* holds ebin and priv */
	struct stat st;		     /* of the library */
	char library[ND_PATH + 128]; /* as the node loads it: without .so */
	char modules[MAX_MODULES][64];
	int n;
};

/* ---- what is loaded -------------------------------------------------------------------- */

/*
 * The library stays mapped in a node once it was loaded, and dlopen() takes what it has under the
 * same name: after an upgrade that would be the old one. So the name says which file it is, in a
 * way that needs no other file: its inode and time as "/" and "/." in the path.
 */
static void own_name(struct files *f, const struct stat *st)
{
	uint64_t bits = (uint64_t)st->st_ino * 0x9e3779b97f4a7c15u ^ (uint64_t)st->st_mtim.tv_sec ^
			(uint64_t)st->st_mtim.tv_nsec << 20;
	size_t len = (size_t)snprintf(f->library, sizeof(f->library), "%s/priv", f->dir);

	bits ^= bits >> 32;
	for (int i = 0; i < 32; i++)
		len += (size_t)snprintf(
			f->library + len, sizeof(f->library) - len, bits >> i & 1 ? "/." : "/");
	snprintf(f->library + len, sizeof(f->library) - len, "/erltrace");
}

static int find_dir(struct files *f, struct et_error *e)
{
	char dir[PATH_MAX], real[PATH_MAX], so[PATH_MAX + 32];

	if (!paths_find(&paths_library, dir) || realpath(dir, real) == NULL) {
		paths_root(dir);
		return et_err(e, ET_AGENT,
			"the node does not have erltrace, and there is no erltrace.so to send to "
			"it: not in %s/priv, not in %s/priv (make erlang builds it)",
			dir, paths_library.configured);
	}
	snprintf(so, sizeof(so), "%s/priv/erltrace.so", real);
	if (stat(so, &f->st) < 0)
		return et_err(e, ET_AGENT, "cannot read %s: %s", so, strerror(errno));
	snprintf(f->dir, sizeof(f->dir), "%s", real);
	own_name(f, &f->st);
	return 0;
}

static int find_modules(struct files *f, struct et_error *e)
{
	char dir[ND_PATH + 8];
	struct dirent *d;
	DIR *at;

	snprintf(dir, sizeof(dir), "%s/ebin", f->dir);
	at = opendir(dir);
	while (at != NULL && (d = readdir(at)) != NULL && f->n < MAX_MODULES) {
		size_t len = strlen(d->d_name);

		if (strncmp(d->d_name, "erltrace", 8) != 0 || len < 14 ||
			len >= sizeof(f->modules[0]) || strcmp(d->d_name + len - 5, ".beam") != 0 ||
			strcmp(d->d_name, LOADER ".beam") == 0) /* loaded separately */
			continue;
		memcpy(f->modules[f->n], d->d_name, len - 5);
		f->modules[f->n++][len - 5] = '\0';
	}
	if (at != NULL)
		closedir(at);
	if (f->n == 0)
		return et_err(e, ET_AGENT, "no modules of erltrace in %s (make erlang)", dir);
	return 0;
}

/* Is all of it there? A node that loads half a library dies of it. */
static bool is_whole(FILE *file, const Elf64_Ehdr *elf, uint64_t size)
{
	Elf64_Phdr ph;

	if (memcmp(elf->e_ident, ELFMAG, SELFMAG) != 0 || elf->e_phentsize != sizeof(ph))
		return false;
	for (int i = 0; i < elf->e_phnum; i++) {
		if (fseek(file, (long)(elf->e_phoff + (uint64_t)i * sizeof(ph)), SEEK_SET) < 0 ||
			fread(&ph, sizeof(ph), 1, file) != 1 || ph.p_offset > size ||
			ph.p_filesz > size - ph.p_offset)
			return false;
	}
	return elf->e_phnum > 0;
}

/* The library's machine must be the node's. */
static int check_machine(struct nd *n, struct files *f, struct et_error *e)
{
	static const struct {
		int machine;
		const char *name;
	} known[] = {{EM_X86_64, "x86_64"}, {EM_AARCH64, "aarch64"}, {EM_RISCV, "riscv64"}};
	char path[ND_PATH + 32];
	Elf64_Ehdr elf = {.e_machine = 0};
	bool whole = false;
	FILE *file;

	snprintf(path, sizeof(path), "%s/priv/erltrace.so", f->dir);
	file = fopen(path, "re");
	if (file == NULL || fread(&elf, sizeof(elf), 1, file) != 1)
		elf.e_machine = 0;
	if (file != NULL) {
		whole = is_whole(file, &elf, (uint64_t)f->st.st_size);
		fclose(file);
	}
	if (!whole)
		return et_err(e, ET_LIBRARY,
			"%s is damaged: it is not a library, or it is incomplete (make erlang)",
			path);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (elf.e_machine == known[i].machine &&
			strncmp(n->arch, known[i].name, strlen(known[i].name)) != 0)
			return et_err(e, ET_ARCH, "the node %s runs on %s; %s is for %s", n->name,
				n->arch, path, known[i].name);
	return 0;
}

/* ---- asking ---------------------------------------------------------------------------- */

/* Is what an rpc gave this atom? */
static bool is_atom(const ei_x_buff *res, const char *atom)
{
	char got[64] = "";
	int at = res->index;

	return nd_get_atom(res, &at, got, sizeof(got)) == 0 && strcmp(got, atom) == 0;
}

static void pause_ms(long ms)
{
	const struct timespec pause = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	nanosleep(&pause, NULL);
}

/* {What, Connection, ..}: the tuple's beginning, more elements to come. */
static void put_request(ei_x_buff *x, const struct nd *n, const char *what, int more)
{
	ei_x_new(x);
	ei_x_encode_tuple_header(x, 2 + more);
	ei_x_encode_atom(x, what);
	ei_x_append(x, &n->connection);
}

/* gen_server:call(erltrace_loader, Request, infinity). Frees the request; ET_UNDEF: there is none,
 * or it has ended. */
static int ask_loader(struct nd *n, ei_x_buff *request, ei_x_buff *res, struct et_error *e)
{
	ei_x_buff args = {0};
	int rc;

	ei_x_new(&args);
	ei_x_encode_list_header(&args, 3);
	ei_x_encode_atom(&args, LOADER);
	ei_x_append(&args, request);
	ei_x_encode_atom(&args, "infinity");
	ei_x_encode_empty_list(&args);
	rc = nd_rpc(n, "gen_server", "call", &args, res, e);
	ei_x_free(&args);
	ei_x_free(request);
	return rc;
}

/*
 * Has another command loaded it? 1: yes, and it stays as long as we need it; 2: it is on its way
 * out, and we are to bring it; 0: no.
 */
static int come(struct nd *n, struct et_error *e)
{
	ei_x_buff request, res = {0};
	int rc;

	put_request(&request, n, "come", 0);
	ei_x_new(&res);
	rc = ask_loader(n, &request, &res, e);
	if (rc == 0)
		rc = is_atom(&res, "bring") ? 2 : 1;
	else if (et_err_is(e, ET_UNDEF))
		rc = 0;
	n->came = rc > 0;
	ei_x_free(&res);
	return rc;
}

/* ---- bringing -------------------------------------------------------------------------- */

static int put_file(ei_x_buff *x, const char *path, struct et_error *e)
{
	size_t len = 0;
	char *bytes = file_read(path, MAX_BEAM, &len);

	if (bytes == NULL)
		return et_err(e, ET_AGENT, "cannot read %s: %s", path, strerror(errno));
	ei_x_encode_binary(x, bytes, (int)len);
	free(bytes);
	return 0;
}

/* Module, File, Code: three terms. */
static int put_module(ei_x_buff *x, const struct files *f, const char *module, struct et_error *e)
{
	char path[ND_PATH + 128];

	snprintf(path, sizeof(path), "%s/ebin/%s.beam", f->dir, module);
	ei_x_encode_atom(x, module);
	ei_x_encode_string(x, path);
	return put_file(x, path, e);
}

/* Why did it not load? {error, {Module, What}}. */
static int not_loaded(struct nd *n, const struct files *f, const char *module, const char *what,
	struct et_error *e)
{
	if (strcmp(what, "version") == 0)
		return et_err(e, ET_AGENT,
			"the node %s has an erltrace of another version, without an agent",
			n->name);
	if (strcmp(module, "init") == 0)
		return et_err(e, ET_TIMEOUT,
			"the node %s does not say which settings of erltrace are on its command line: "
			"its process init does not answer, and it reads no files; is init waiting for "
			"an application to start or to stop? (as root -p PID looks at the node from "
			"outside)",
			n->name);
	if (strcmp(what, "on_load_failure") == 0)
		return et_err(e, ET_LIBRARY,
			"the node %s (OTP %s, %s) does not load %s/priv/erltrace.so: its log says "
			"why; was it built for another release, or for another C library?",
			n->name, n->otp, n->arch, f->dir);
	if (strcmp(what, "badfile") != 0 && strcmp(what, "features_not_allowed") != 0)
		return et_err(e, ET_AGENT, "the node %s (OTP %s) does not load the module %s: %s",
			n->name, n->otp, module, what);
	return et_err(e, ET_AGENT,
		"the node %s (OTP %s) does not load the module %s: %s; %s was compiled by a newer "
		"release, most likely: build erltrace with OTP %s or an older one",
		n->name, n->otp, module, what, f->dir, n->otp);
}

/* ready | {error, {Module, Why}} | {error, {places, Text}} | {error, {init, timeout}} */
static int brought(struct nd *n, const struct files *f, ei_x_buff *res, struct et_error *e)
{
	char word[64] = "", module[64] = "", why[64] = "";
	const char *text;
	long len;

	if (is_atom(res, "ready"))
		return 0;
	nd_get_tuple(res, &res->index, 2);
	nd_get_atom(res, &res->index, word, sizeof(word));
	nd_get_tuple(res, &res->index, 2);
	nd_get_atom(res, &res->index, module, sizeof(module));
	if (nd_get_text(res, &res->index, &text, &len) == 0)
		return et_err(e, ET_LIBRARY,
			"the node %s (OTP %s, %s) cannot read %s/priv/erltrace.so, and it could "
			"not be sent to the node: %.*s; install erltrace on its side, or let the "
			"node write to one of these folders",
			n->name, n->otp, n->arch, f->dir, (int)len, text);
	nd_get_atom(res, &res->index, why, sizeof(why));
	return not_loaded(n, f, module, why, e);
}

/*
 * The node does not say whether it can read the library: its files hang. dlopen() needs no dirty
 * scheduler, so it can load the library if it is the same file there, which may be seen from here.
 */
static int seen_from_here(struct nd *n, const struct files *f, const char *so, struct et_error *e)
{
	pid_t pid = nd_peer_process(n->fd);
	int fd = pid == 0 ? -1 : fi_open_in(pid, so);
	struct stat st;
	bool same = fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == f->st.st_dev &&
		    st.st_ino == f->st.st_ino;

	if (fd >= 0)
		close(fd);
	if (same)
		return 1;
	return et_err(e, ET_TIMEOUT,
		"the node %s reads no files: all its dirty I/O schedulers are taken by processes that "
		"wait for some, on a hung disk or network file system. erltrace cannot see from here "
		"whether the node has %s: run it on the node's machine, as root or as its user",
		n->name, so);
}

/* {bring, Connection, [{Module, File, Code}], {file, Library} | {bytes, Library}} */
static int put_all(ei_x_buff *x, struct nd *n, const struct files *f, bool seen, struct et_error *e)
{
	char so[ND_PATH + 32];

	put_request(x, n, "bring", 2);
	ei_x_encode_list_header(x, f->n);
	for (int i = 0; i < f->n; i++) {
		ei_x_encode_tuple_header(x, 3);
		if (put_module(x, f, f->modules[i], e) < 0)
			return -1;
	}
	ei_x_encode_empty_list(x);
	ei_x_encode_tuple_header(x, 2);
	ei_x_encode_atom(x, seen ? "file" : "bytes");
	snprintf(so, sizeof(so), "%s/priv/erltrace.so", f->dir);
	return seen ? ei_x_encode_string(x, f->library) : put_file(x, so, e);
}

/* The loader is there, and waits for us. */
static int bring(struct nd *n, const struct files *f, struct et_error *e)
{
	char so[ND_PATH + 32];
	ei_x_buff request, res = {0};
	int rc;

	n->came = true;
	snprintf(so, sizeof(so), "%s/priv/erltrace.so", f->dir);
	ei_x_new(&res);
	put_request(&request, n, "sees", 3);
	ei_x_encode_string(&request, so);
	ei_x_encode_longlong(&request, (long long)f->st.st_size);
	ei_x_encode_ulonglong(&request, (unsigned long long)f->st.st_ino);
	rc = ask_loader(n, &request, &res, e);
	if (rc == 0)
		rc = is_atom(&res, "blocked") ? seen_from_here(n, f, so, e) : is_atom(&res, "true");
	if (rc >= 0) {
		rc = put_all(&request, n, f, rc > 0, e);
		if (rc == 0)
			rc = ask_loader(n, &request, &res, e);
		else
			ei_x_free(&request);
	}
	if (rc == 0)
		rc = brought(n, f, &res, e);
	ei_x_free(&res);
	return rc;
}

static void add_call(struct nd_calls *c, const char *mod, const char *fun, ei_x_buff *args)
{
	ei_x_encode_empty_list(args);
	nd_calls_add(c, mod, fun, args);
	ei_x_free(args);
}

static void args_of(ei_x_buff *args, int n)
{
	ei_x_new(args);
	ei_x_encode_list_header(args, n);
}

/* Why does the node not load the loader? erlang:prepare_loading(Module, Code) says it. */
static int why_not(struct nd *n, const struct files *f, const char *path, struct et_error *e)
{
	char word[64] = "", what[64] = "?";
	ei_x_buff args, res = {0};
	int rc;

	args_of(&args, 2);
	ei_x_new(&res);
	ei_x_encode_atom(&args, LOADER);
	rc = put_file(&args, path, e);
	ei_x_encode_empty_list(&args);
	if (rc == 0)
		rc = nd_rpc(n, "erlang", "prepare_loading", &args, &res, e);
	if (rc == 0 && nd_get_tuple(&res, &res.index, 2) == 0 &&
		nd_get_atom(&res, &res.index, word, sizeof(word)) == 0)
		nd_get_atom(&res, &res.index, what, sizeof(what));
	ei_x_free(&args);
	ei_x_free(&res);
	return rc < 0 ? rc : not_loaded(n, f, LOADER, what, e);
}

/*
 * ets:new(erltrace_loader, [named_table]), erts_code_purger:purge(erltrace_loader),
 * erlang:load_module(erltrace_loader, Code), erltrace_loader:begin_loading(Connection): 1; 0:
 * another command is at it, or its loader is still there.
 */
static int bring_loader(struct nd *n, const struct files *f, struct et_error *e)
{
	char path[ND_PATH + 128];
	struct nd_calls c = {.n = 0};
	ei_x_buff args, code, res = {0};
	int rc;

	snprintf(path, sizeof(path), "%s/ebin/" LOADER ".beam", f->dir);
	args_of(&code, 2);
	ei_x_encode_atom(&code, LOADER);
	if (put_file(&code, path, e) < 0) {
		ei_x_free(&code);
		return -1;
	}
	args_of(&args, 2);
	ei_x_encode_atom(&args, LOADER);
	ei_x_encode_list_header(&args, 1);
	ei_x_encode_atom(&args, "named_table");
	ei_x_encode_empty_list(&args);
	add_call(&c, "ets", "new", &args);
	args_of(&args, 1);
	ei_x_encode_atom(&args, LOADER);
	add_call(&c, "erts_code_purger", "purge", &args);
	add_call(&c, "erlang", "load_module", &code);
	args_of(&args, 1);
	ei_x_append(&args, &n->connection);
	add_call(&c, LOADER, "begin_loading", &args);
	ei_x_new(&res);
	rc = nd_calls(n, &c, &res, e);
	ei_x_free(&res);
	if (rc < 0 && et_err_is(e, ET_BADARG)) {
		et_err_clear(e);
		return 0;
	}
	if (rc < 0 && et_err_is(e, ET_UNDEF)) {
		et_err_clear(e);
		return why_not(n, f, path, e);
	}
	return rc < 0 ? -1 : 1;
}

/* ---- the agent ------------------------------------------------------------------------- */

/* 1: it is there; 0: another command is just loading or unloading it. */
static int try_to_bring(struct nd *n, const struct files *f, struct et_error *e)
{
	int rc = come(n, e);

	if (rc == 0) {
		et_err_clear(e);
		rc = nd_room(n, e) < 0 || nd_otp_modules(n, e) < 0 ? -1 : bring_loader(n, f, e);
		rc = rc > 0 ? 2 : rc;
	}
	if (rc == 2)
		rc = bring(n, f, e) == 0 ? 1 : -1;
	return rc;
}

/* Is there an erltrace in the node's code path? If that cannot be found out, ours is loaded, unless the
 * loader sees that one is loaded. */
static bool has_own(struct nd *n)
{
	struct et_error ignored = {.tag = ""};
	ei_x_buff args, res = {0};
	bool has;

	if (!nd_loads(n, SEARCH_MS))
		return false;
	ei_x_new(&args);
	ei_x_new(&res);
	ei_x_format_wo_ver(&args, "[~s]", "erltrace_agent.beam");
	has = nd_rpc_within(n, SEARCH_MS, "code", "where_is_file", &args, &res, &ignored) == 0 &&
	      !is_atom(&res, "non_existing");
	ei_x_free(&args);
	ei_x_free(&res);
	return has;
}

int nd_agent(struct nd *n, struct et_error *e)
{
	static _Thread_local struct files f; /* large */
	int rc = 0;

	if (n->has_agent)
		return 0;
	if (atoi(n->otp) < OLDEST_OTP)
		return et_err(e, ET_RELEASE,
			"the node %s runs OTP %s: erltrace needs OTP %d or later", n->name, n->otp,
			OLDEST_OTP);
	n->has_agent = has_own(n);
	if (n->has_agent)
		return 0;
	memset(&f, 0, sizeof(f));
	if (find_dir(&f, e) < 0 || find_modules(&f, e) < 0 || check_machine(n, &f, e) < 0)
		return -1;
	for (int ms = 0; rc == 0 && ms < TRY_MS; ms += PAUSE_MS) {
		et_err_clear(e);
		rc = try_to_bring(n, &f, e);
		if (rc == 0)
			pause_ms(PAUSE_MS);
	}
	if (rc < 0)
		nd_agent_gone(n);
	if (rc == 0)
		return et_err(e, ET_AGENT,
			"another command has been bringing erltrace to the node %s, or taking it "
			"out, "
			"for %d s: is it suspended?",
			n->name, TRY_MS / 1000);
	return rc > 0 ? 0 : -1;
}

void nd_agent_gone(struct nd *n)
{
	struct et_error ignored = {.tag = ""};
	ei_x_buff request, res = {0};

	if (!n->came || n->fd < 0)
		return;
	n->came = false;
	ei_x_new(&res);
	put_request(&request, n, "leave", 0);
	ask_loader(n, &request, &res, &ignored);
	ei_x_free(&res);
}
