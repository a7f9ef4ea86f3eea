/* SPDX-License-Identifier: Apache-2.0 */
/*
 * erltrace's modules into a node that does not have them: ebin/erltrace*.beam by code:load_binary,
 * the NIF library by its path, told through the application's environment. Where the node cannot
 * read that file (another machine, a container, another user) its bytes are sent, and the node
 * writes them into a folder for temporary files, from where they are removed as soon as the
 * library is loaded. The agent takes everything out when its last command has gone
 * (src/erltrace_agent.erl).
 */
#include "node.h"

#ifdef HAVE_EI

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

#ifndef ERLTRACE_LIBDIR
#define ERLTRACE_LIBDIR "/usr/local/lib/erltrace"
#endif

enum { MAX_MODULES = 64, MAX_BEAM = 64 << 20, OLDEST_OTP = 25 };

struct files {
	char dir[ND_PATH];	     /* holds ebin and priv */
	struct stat st;		     /* of the library */
	char library[ND_PATH + 128]; /* as the node is told: without .so */
	char sent[ND_PATH];	     /* the folder that the node has written it to; or empty */
	char tried[512];	     /* folders where that did not work */
	char modules[MAX_MODULES][64];
	int n;
};

/* ---- what there is to bring ------------------------------------------------------------ */

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

static bool has_library(struct files *f, const char *dir)
{
	char real[PATH_MAX], so[PATH_MAX + 32];
	struct stat st;

	if (realpath(dir, real) == NULL)
		return false;
	snprintf(so, sizeof(so), "%s/priv/erltrace.so", real);
	if (stat(so, &st) < 0 || access(so, R_OK) < 0)
		return false;
	f->st = st;
	snprintf(f->dir, sizeof(f->dir), "%s", real);
	own_name(f, &st);
	return true;
}

/* Beside the command: as built (bin/, ebin/, priv/), as installed (bin/, lib/erltrace/). */
static int find_dir(struct files *f, struct et_error *e)
{
	char exe[PATH_MAX], dir[PATH_MAX + 32], *slash;
	ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);

	exe[len > 0 ? len : 0] = '\0';
	slash = strrchr(exe, '/');
	if (slash != NULL)
		*slash = '\0';
	snprintf(dir, sizeof(dir), "%s/..", exe);
	if (has_library(f, dir))
		return 0;
	snprintf(dir, sizeof(dir), "%s/../lib/erltrace", exe);
	if (has_library(f, dir) || has_library(f, ERLTRACE_LIBDIR))
		return 0;
	return et_err(e, "ET_AGENT",
		"the node does not have erltrace, and there is no erltrace.so to bring: not in "
		"%s/../priv, not in %s/priv (make erlang builds it)",
		exe, ERLTRACE_LIBDIR);
}

/* erltrace_agent comes last: who sees it, sees all. */
static int by_need(const void *a, const void *b)
{
	bool x = strcmp(a, "erltrace_agent") == 0, y = strcmp(b, "erltrace_agent") == 0;

	return x != y ? x - y : strcmp(a, b);
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
			len >= sizeof(f->modules[0]) || strcmp(d->d_name + len - 5, ".beam") != 0)
			continue;
		memcpy(f->modules[f->n], d->d_name, len - 5);
		f->modules[f->n++][len - 5] = '\0';
	}
	if (at != NULL)
		closedir(at);
	qsort(f->modules, (size_t)f->n, sizeof(f->modules[0]), by_need);
	if (f->n == 0 || strcmp(f->modules[f->n - 1], "erltrace_agent") != 0)
		return et_err(e, "ET_AGENT", "no modules of erltrace in %s (make erlang)", dir);
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
		return et_err(e, "ET_LIBRARY",
			"%s is damaged: it is no library, or not all of it (make erlang)", path);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (elf.e_machine == known[i].machine &&
			strncmp(n->arch, known[i].name, strlen(known[i].name)) != 0)
			return et_err(e, "ET_ARCH", "the node %s runs on %s; %s is for %s", n->name,
				n->arch, path, known[i].name);
	return 0;
}

/* ---- asking ---------------------------------------------------------------------------- */

/* code:which(Module): is it there? */
static int has_module(struct nd *n, const char *module, bool *has, struct et_error *e)
{
	ei_x_buff args = {0}, res = {0};
	char atom[64] = "";
	int rc;

	ei_x_new(&args);
	ei_x_new(&res);
	ei_x_encode_list_header(&args, 1);
	ei_x_encode_atom(&args, module);
	ei_x_encode_empty_list(&args);
	rc = nd_rpc(n, "code", "which", &args, &res, e);
	if (rc == 0)
		nd_get_atom(&res, &res.index, atom, sizeof(atom));
	*has = strcmp(atom, "non_existing") != 0;
	ei_x_free(&args);
	ei_x_free(&res);
	return rc;
}

/* Mod:Fun(Text): true? */
static bool is_true(struct nd *n, const char *mod, const char *fun, const char *text, bool as_atom)
{
	ei_x_buff args = {0}, res = {0};
	struct et_error ignored = {.tag = ""};
	char atom[64] = "";

	ei_x_new(&args);
	ei_x_new(&res);
	ei_x_encode_list_header(&args, 1);
	if (as_atom)
		ei_x_encode_atom(&args, text);
	else
		ei_x_encode_string(&args, text);
	ei_x_encode_empty_list(&args);
	if (nd_rpc(n, mod, fun, &args, &res, &ignored) == 0)
		nd_get_atom(&res, &res.index, atom, sizeof(atom));
	ei_x_free(&args);
	ei_x_free(&res);
	return strcmp(atom, "true") == 0;
}

/* ---- bringing -------------------------------------------------------------------------- */

/* application:set_env(erltrace, Key, library's path | modules). */
static int set_env(struct nd *n, const char *key, const struct files *f, struct et_error *e)
{
	ei_x_buff args = {0}, res = {0};
	int rc;

	ei_x_new(&args);
	ei_x_new(&res);
	ei_x_encode_list_header(&args, 3);
	ei_x_encode_atom(&args, "erltrace");
	ei_x_encode_atom(&args, key);
	if (strcmp(key, "library") == 0) {
		ei_x_encode_string(&args, f->library);
	} else {
		ei_x_encode_list_header(&args, f->n);
		for (int i = 0; i < f->n; i++)
			ei_x_encode_atom(&args, f->modules[i]);
		ei_x_encode_empty_list(&args);
	}
	ei_x_encode_empty_list(&args);
	rc = nd_rpc(n, "application", "set_env", &args, &res, e);
	ei_x_free(&args);
	ei_x_free(&res);
	return rc;
}

static char *read_beam(const char *path, long *len, struct et_error *e)
{
	FILE *file = fopen(path, "re");
	struct stat st;
	char *bytes = NULL;

	if (file != NULL && fstat(fileno(file), &st) == 0 && st.st_size < MAX_BEAM)
		bytes = malloc((size_t)st.st_size + 1);
	if (bytes != NULL && fread(bytes, 1, (size_t)st.st_size, file) != (size_t)st.st_size) {
		free(bytes);
		bytes = NULL;
	}
	if (bytes == NULL)
		et_err(e, "ET_AGENT", "cannot read %s: %s", path, strerror(errno));
	else
		*len = st.st_size;
	if (file != NULL)
		fclose(file);
	return bytes;
}

/* Why did it not load? {error, What}. */
static int not_loaded(struct nd *n, const struct files *f, const char *module, const char *what,
	struct et_error *e)
{
	char path[ND_PATH + 32];

	snprintf(path, sizeof(path), "%s/priv/erltrace.so", f->dir);
	if (strcmp(what, "on_load_failure") != 0)
		return et_err(e, "ET_AGENT",
			"the node %s (OTP %s) does not load the module %s: %s; %s was compiled by "
			"a newer release, most likely: build erltrace with OTP %s or an older one",
			n->name, n->otp, module, what, f->dir, n->otp);
	return et_err(e, "ET_LIBRARY",
		"the node %s (OTP %s, %s) does not load %s: its log says why; was it built for "
		"another release, or for another C library?",
		n->name, n->otp, n->arch, path);
}

static int load_module(struct nd *n, const struct files *f, const char *module, struct et_error *e)
{
	char path[ND_PATH + 128], word[64] = "", what[64] = "";
	ei_x_buff args = {0}, res = {0};
	char *bytes;
	long len = 0;
	int rc;

	snprintf(path, sizeof(path), "%s/ebin/%s.beam", f->dir, module);
	bytes = read_beam(path, &len, e);
	if (bytes == NULL)
		return -1;
	ei_x_new(&args);
	ei_x_new(&res);
	ei_x_encode_list_header(&args, 3);
	ei_x_encode_atom(&args, module);
	ei_x_encode_string(&args, path);
	ei_x_encode_binary(&args, bytes, (int)len);
	ei_x_encode_empty_list(&args);
	rc = nd_rpc(n, "code", "load_binary", &args, &res, e);
	if (rc == 0 && nd_get_tuple(&res, &res.index, 2) == 0 &&
		nd_get_atom(&res, &res.index, word, sizeof(word)) == 0) {
		nd_get_tuple(&res, &res.index, 2); /* {features_not_allowed, ..} as well as badfile */
		nd_get_atom(&res, &res.index, what, sizeof(what));
	}
	if (rc == 0 && strcmp(word, "module") != 0)
		rc = not_loaded(n, f, module, what, e);
	free(bytes);
	ei_x_free(&args);
	ei_x_free(&res);
	return rc;
}

/* After a failure: what was loaded goes again. */
static void unload(struct nd *n, const struct files *f)
{
	static const char *const keys[] = {"library", "brought"};

	for (int i = 0; i < f->n; i++)
		if (is_true(n, "code", "delete", f->modules[i], true))
			is_true(n, "code", "purge", f->modules[i], true);
	for (int i = 0; i < 2; i++) {
		ei_x_buff args = {0}, res = {0};
		struct et_error ignored = {.tag = ""};

		ei_x_new(&args);
		ei_x_new(&res);
		ei_x_encode_list_header(&args, 2);
		ei_x_encode_atom(&args, "erltrace");
		ei_x_encode_atom(&args, keys[i]);
		ei_x_encode_empty_list(&args);
		nd_rpc(n, "application", "unset_env", &args, &res, &ignored);
		ei_x_free(&args);
		ei_x_free(&res);
	}
}

static int load_all(struct nd *n, const struct files *f, struct et_error *e)
{
	if (set_env(n, "library", f, e) < 0 || set_env(n, "brought", f, e) < 0)
		return -1;
	for (int i = 0; i < f->n; i++)
		if (load_module(n, f, f->modules[i], e) < 0) {
			unload(n, f);
			return -1;
		}
	return 0;
}

/* ---- the library's bytes --------------------------------------------------------------- */

/* Mod:Fun(Args) -> ok | {error, Reason}: 0, or -1 with the reason's name. Frees args. */
static int file_call(struct nd *n, const char *mod, const char *fun, ei_x_buff *args, char *why,
	size_t size)
{
	struct et_error e = {.tag = ""};
	ei_x_buff res = {0};
	char atom[64] = "";
	int rc;

	ei_x_new(&res);
	rc = nd_rpc(n, mod, fun, args, &res, &e);
	if (rc < 0) {
		snprintf(why, size, "%.200s", e.text);
	} else if (nd_get_tuple(&res, &res.index, 2) == 0) {
		nd_get_atom(&res, &res.index, atom, sizeof(atom));
		if (nd_get_atom(&res, &res.index, why, size) < 0)
			snprintf(why, size, "error");
		rc = -1;
	}
	ei_x_free(args);
	ei_x_free(&res);
	return rc;
}

static void args_of(ei_x_buff *x, const char *path, int n)
{
	ei_x_new(x);
	ei_x_encode_list_header(x, n);
	ei_x_encode_string(x, path);
}

static int make_folder(struct nd *n, const char *path, char *why, size_t size)
{
	ei_x_buff args;

	args_of(&args, path, 1);
	ei_x_encode_empty_list(&args);
	if (file_call(n, "file", "make_dir", &args, why, size) < 0)
		return -1;
	args_of(&args, path, 2);
	ei_x_encode_long(&args, 0700);
	ei_x_encode_empty_list(&args);
	return file_call(n, "file", "change_mode", &args, why, size);
}

static void remove_sent(struct nd *n, struct files *f)
{
	char path[ND_PATH + 32], why[256];
	ei_x_buff args;

	if (f->sent[0] == '\0')
		return;
	snprintf(path, sizeof(path), "%s/erltrace.so", f->sent);
	args_of(&args, path, 1);
	ei_x_encode_empty_list(&args);
	file_call(n, "file", "delete", &args, why, sizeof(why));
	args_of(&args, f->sent, 1);
	ei_x_encode_empty_list(&args);
	file_call(n, "file", "del_dir", &args, why, sizeof(why));
	f->sent[0] = '\0';
}

/*
 * The folder's name depends on what is in the library, so that the node, which keeps it mapped,
 * finds it again the next time; and on the cookie, so that nobody else can have made it before.
 */
static uint64_t secret(const struct nd *n, const char *bytes, long len)
{
	uint64_t h = n->secret;

	for (long i = 0; i < len; i++) {
		h = (h ^ (uint8_t)bytes[i]) * 0xff51afd7ed558ccdu;
		h ^= h >> 29;
	}
	return h;
}

static int send_to(struct nd *n, struct files *f, const char *tmp, const char *bytes, long len,
	char *why, size_t size)
{
	char path[ND_PATH + 32];
	ei_x_buff args;

	snprintf(f->sent, sizeof(f->sent), "%s/erltrace-%016llx", tmp,
		(unsigned long long)secret(n, bytes, len));
	if (make_folder(n, f->sent, why, size) < 0 && strcmp(why, "eexist") != 0) {
		f->sent[0] = '\0';
		return -1;
	}
	snprintf(path, sizeof(path), "%s/erltrace.so", f->sent);
	args_of(&args, path, 2);
	ei_x_encode_binary(&args, bytes, (int)len);
	ei_x_encode_empty_list(&args);
	if (file_call(n, "file", "write_file", &args, why, size) < 0) {
		remove_sent(n, f);
		return -1;
	}
	snprintf(f->library, sizeof(f->library), "%s/erltrace", f->sent);
	return 0;
}

/* os:getenv(Name, ""), file:get_cwd(): a folder of the node's. */
static bool node_folder(struct nd *n, const char *env, char *path, size_t size)
{
	struct et_error ignored = {.tag = ""};
	ei_x_buff args = {0}, res = {0};
	int type, len, rc;

	ei_x_new(&args);
	ei_x_new(&res);
	if (env != NULL)
		ei_x_format_wo_ver(&args, "[~s,~s]", env, "/");
	else
		ei_x_encode_empty_list(&args);
	rc = nd_rpc(n, env != NULL ? "os" : "file", env != NULL ? "getenv" : "get_cwd", &args, &res,
		&ignored);
	path[0] = '\0';
	if (rc == 0 && env == NULL && nd_get_tuple(&res, &res.index, 2) == 0)
		nd_get_atom(&res, &res.index, path, size);
	if (rc == 0 && ei_get_type(res.buff, &res.index, &type, &len) == 0 && (size_t)len < size)
		ei_decode_string(res.buff, &res.index, path);
	ei_x_free(&args);
	ei_x_free(&res);
	return path[0] == '/' && path[1] != '\0';
}

/* Where the node can write, and load what it wrote: each in turn. */
static int send_library(struct nd *n, struct files *f, struct et_error *e)
{
	static const char *const places[] = {
		"$TMPDIR", "/tmp", "/var/tmp", "/dev/shm", "/run", "$HOME", "."};
	char so[ND_PATH + 32], tmp[ND_PATH / 2], why[256];
	size_t said = 0;
	long len = 0;
	char *bytes;
	int rc = -1;

	snprintf(so, sizeof(so), "%s/priv/erltrace.so", f->dir);
	bytes = read_beam(so, &len, e);
	for (size_t i = 0; bytes != NULL && rc < 0 && i < sizeof(places) / sizeof(places[0]); i++) {
		const char *p = places[i];

		snprintf(tmp, sizeof(tmp), "%s", p);
		if ((p[0] == '$' && !node_folder(n, p + 1, tmp, sizeof(tmp))) ||
			(p[0] == '.' && !node_folder(n, NULL, tmp, sizeof(tmp))))
			continue;
		et_err_clear(e);
		why[0] = '\0';
		rc = send_to(n, f, tmp, bytes, len, why, sizeof(why));
		if (rc == 0)
			rc = load_all(n, f, e);
		remove_sent(n, f);
		if (rc < 0 && e->tag[0] != '\0' && strcmp(e->tag, "ET_LIBRARY") != 0)
			break; /* another folder would not help */
		if (said < sizeof(f->tried) - 1)
			said += (size_t)snprintf(f->tried + said, sizeof(f->tried) - said,
				"%s%s: %s", said > 0 ? ", " : "", tmp,
				why[0] != '\0' ? why : "does not load");
	}
	free(bytes);
	if (rc < 0 && (e->tag[0] == '\0' || strcmp(e->tag, "ET_LIBRARY") == 0)) {
		et_err_clear(e);
		et_err(e, "ET_LIBRARY",
			"the node %s (OTP %s, %s) cannot read %s, and could not be given it: %s; "
			"install erltrace on its side, or let it write to one of these folders",
			n->name, n->otp, n->arch, so, f->tried);
	}
	return rc;
}

/* file:read_file_info(Path): has the node this very file? By its length and inode. */
static bool sees_library(struct nd *n, const struct files *f)
{
	struct et_error ignored = {.tag = ""};
	ei_x_buff args = {0}, res = {0};
	char so[ND_PATH + 32], word[64] = "";
	long long v[16] = {0};
	int at, arity = 0;

	snprintf(so, sizeof(so), "%s/priv/erltrace.so", f->dir);
	ei_x_new(&res);
	args_of(&args, so, 1);
	ei_x_encode_empty_list(&args);
	/* {ok, {file_info, Size, Type, Access, Atime, Mtime, Ctime, Mode, Links, Major, Minor,
	 * Inode, Uid, Gid}} */
	if (nd_rpc(n, "file", "read_file_info", &args, &res, &ignored) == 0 &&
		nd_get_tuple(&res, &res.index, 2) == 0 &&
		nd_get_atom(&res, &res.index, word, sizeof(word)) == 0 &&
		strcmp(word, "ok") == 0 &&
		ei_decode_tuple_header(res.buff, &res.index, &arity) == 0) {
		at = res.index;
		for (int i = 0; i < arity && i < 16; i++) {
			int type, len;

			word[0] = '\0';
			if (ei_get_type(res.buff, &at, &type, &len) < 0)
				break;
			if (i == 3) /* read | read_write: may it? */
				nd_get_atom(&res, &at, word, sizeof(word));
			else if (ei_decode_longlong(res.buff, &at, &v[i]) < 0)
				ei_skip_term(res.buff, &at);
			if (i == 3 && strncmp(word, "read", 4) != 0)
				v[0] = -1;
		}
	}
	ei_x_free(&args);
	ei_x_free(&res);
	return v[0] == 0 && v[1] == (long long)f->st.st_size && v[11] == (long long)f->st.st_ino;
}

/* ---- the agent ------------------------------------------------------------------------- */

int nd_agent(struct nd *n, struct et_error *e)
{
	static struct files f; /* large */
	bool has;

	if (has_module(n, "erltrace_agent", &has, e) < 0 || has)
		return has ? 0 : -1;
	if (has_module(n, "erltrace", &has, e) < 0)
		return -1;
	if (has)
		return et_err(e, "ET_AGENT",
			"the node %s has an erltrace of another version, without an agent",
			n->name);
	if (atoi(n->otp) < OLDEST_OTP)
		return et_err(e, "ET_RELEASE",
			"the node %s runs OTP %s: erltrace needs OTP %d or later", n->name, n->otp,
			OLDEST_OTP);
	memset(&f, 0, sizeof(f));
	if (find_dir(&f, e) < 0 || find_modules(&f, e) < 0 || check_machine(n, &f, e) < 0)
		return -1;
	return sees_library(n, &f) ? load_all(n, &f, e) : send_library(n, &f, e);
}

void nd_agent_gone(struct nd *n)
{
	const struct timespec pause = {.tv_nsec = 2000000};

	for (int i = 0; i < 500 && n->fd >= 0; i++) {
		if (!is_true(n, "erlang", "check_old_code", "erltrace_agent", true))
			return;
		nanosleep(&pause, NULL);
	}
}

#else
typedef int agent_needs_ei; /* an empty file is no C */
#endif
