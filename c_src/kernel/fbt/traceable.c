/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions of the kernel that can be traced. ftrace has the list, and leaves out what must not
 * be (notrace, code that begins and ends interrupts, what has been freed after boot). It is a file
 * of tracefs, which need not be mounted: then a mount of our own has it, which is nowhere to be
 * seen. Their addresses are in /proc/kallsyms (those of a newer list of ftrace's are where it is
 * called, which is behind the first instruction of some).
 *
 * Who may not read that list gets the functions of the symbol table without those in sections that
 * are not traced.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/btf.h>
#include <linux/mount.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "array.h"
#include "file.h"
#include "traceable.h"
#include "hash.h"

enum { MOST = 64 << 20 }; /* bytes of a list; they are some 10 MB */

static const char kernel[] = "vmlinux";

struct functions {
	struct k_functions all; /* the first member */
	char *text, *symbols;	/* of the names */
	uint32_t *slot;		/* by hash: a function's number + 1 */
	size_t nslots;
};

/* ---- by name ---------------------------------------------------------------------------- */

static uint64_t hash_of(const char *name)
{
	return hash_bytes(name, strlen(name));
}

static bool is_called(const struct k_function *f, const char *mod, const char *name)
{
	return strcmp(f->name, name) == 0 && strcmp(f->mod, mod) == 0;
}

/* The slot of the first function of these names, or the empty one where it belongs. */
static uint32_t *slot_of(const struct functions *fs, const char *mod, const char *name)
{
	size_t i = hash_of(name) & (fs->nslots - 1);

	while (fs->slot[i] != 0 && !is_called(&fs->all.all[fs->slot[i] - 1], mod, name))
		i = (i + 1) & (fs->nslots - 1);
	return &fs->slot[i];
}

static bool index_names(struct functions *fs)
{
	struct k_function *all = fs->all.all;

	for (fs->nslots = 64; fs->nslots < 2 * fs->all.n; fs->nslots *= 2)
		;
	fs->slot = calloc(fs->nslots, sizeof(*fs->slot));
	for (size_t i = 0; fs->slot != NULL && i < fs->all.n; i++) {
		uint32_t *at = slot_of(fs, all[i].mod, all[i].name);

		if (*at == 0) {
			*at = (uint32_t)i + 1;
			continue;
		}
		all[i].hidden = true; /* behind the first one */
		all[i].same = all[*at - 1].same;
		all[*at - 1].same = (uint32_t)i + 1;
	}
	return fs->slot != NULL;
}

const struct k_function *k_function_find(
	const struct k_functions *all, const char *mod, const char *name)
{
	const struct functions *fs = (const struct functions *)(const void *)all;
	uint32_t at = *slot_of(fs, mod != NULL ? mod : kernel, name);

	for (size_t i = hash_of(name) & (fs->nslots - 1);
		at == 0 && mod == NULL && fs->slot[i] != 0; i = (i + 1) & (fs->nslots - 1))
		if (strcmp(all->all[fs->slot[i] - 1].name, name) == 0)
			at = fs->slot[i];
	return at != 0 && !all->all[at - 1].hidden ? &all->all[at - 1] : NULL;
}

const struct k_function *k_function_next(const struct k_functions *fs, const struct k_function *f)
{
	return f->same != 0 ? &fs->all[f->same - 1] : NULL;
}

bool k_function_type(struct btf *b, const struct k_function *f, struct btf_at *at)
{
	const uint32_t kind = BTF_A(BTF_KIND_FUNC);

	return b != NULL && (btf_find(b, f->mod, f->name, kind, at) ||
				    (f->alias != NULL && btf_find(b, f->mod, f->alias, kind, at)));
}

/* ---- the lists of the kernel -------------------------------------------------------------- */

/* Words of a line, which end with NULs from then on: "address type name [module]", or fewer. */
static char *take_word(char **at)
{
	char *word = *at + strspn(*at, " \t"), *end = word + strcspn(word, " \t");

	*at = *end != '\0' ? end + 1 : end;
	*end = '\0';
	return *word != '\0' ? word : NULL;
}

static char *take_line(char **at)
{
	char *line = *at, *end = line != NULL ? strchr(line, '\n') : NULL;

	if (line == NULL || *line == '\0')
		return NULL;
	if (end != NULL)
		*end = '\0';
	*at = end != NULL ? end + 1 : NULL;
	return line;
}

/* "[ext4]"; NULL: what the kernel makes at run time, such as BPF programs. */
static const char *module_of(char *word)
{
	size_t len = word != NULL ? strlen(word) : 0;

	if (len < 3 || word[0] != '[')
		return kernel;
	word[len - 1] = '\0';
	word++;
	return strcmp(word, "bpf") == 0 || strncmp(word, "__builtin__", 11) == 0 ? NULL : word;
}

static bool add(struct functions *fs, const char *mod, const char *name, uint64_t at)
{
	if (!ARRAY_ROOM(fs->all.all, fs->all.n))
		return false;
	fs->all.all[fs->all.n++] = (struct k_function){.name = name, .mod = mod, .at = at};
	return true;
}

/* A line of ftrace's list: "name [module]". */
static bool add_traced(struct functions *fs, char *line)
{
	char *name = take_word(&line);
	const char *mod = module_of(take_word(&line));

	if (name == NULL || mod == NULL || strncmp(name, "__ftrace_invalid_address", 24) == 0)
		return true;
	return add(fs, mod, name, 0);
}

/* tracefs, mounted nowhere; a folder, or -1. */
static int own_tracefs(void)
{
	int fs = (int)syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC), dir = -1;

	if (fs < 0)
		return -1;
	if (syscall(SYS_fsconfig, fs, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		dir = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOEXEC, MOUNT_ATTR_RDONLY);
	close(fs);
	return dir;
}

static char *read_at(int dir, const char *name)
{
	int fd = dir >= 0 ? openat(dir, name, O_RDONLY | O_CLOEXEC) : -1;
	char *text = NULL;
	size_t len;

	if (fd >= 0) {
		text = file_read_fd(fd, MOST, &len);
		close(fd);
	}
	if (text != NULL && len == 0) {
		free(text);
		text = NULL;
	}
	return text;
}

/* ftrace's list; NULL: there is none, or it is not for us. */
static char *read_traced(void)
{
	static const char *const mounts[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};
	char *text = NULL;
	int dir = -1;

	for (unsigned i = 0; text == NULL && i <= sizeof(mounts) / sizeof(*mounts); i++) {
		dir = i < 2 ? open(mounts[i], O_PATH | O_DIRECTORY | O_CLOEXEC) : own_tracefs();
		text = read_at(dir, "available_filter_functions");
		if (dir >= 0)
			close(dir);
	}
	return text;
}

/* ---- the symbol table --------------------------------------------------------------------- */

struct symbol {
	const char *name, *mod;
	uint64_t at;
};

/* Before functions, for checks of calls: not one itself. */
static bool is_padding(const char *name)
{
	return strncmp(name, "__pfx_", 6) == 0 || strncmp(name, "__cfi_", 6) == 0;
}

static bool take_symbol(char *line, struct symbol *s)
{
	const char *at = take_word(&line), *type = take_word(&line);

	s->name = take_word(&line);
	s->mod = module_of(take_word(&line));
	s->at = at != NULL ? strtoull(at, NULL, 16) : 0;
	return s->name != NULL && s->mod != NULL && strchr("tTwW", *type) != NULL &&
	       !is_padding(s->name);
}

/* Functions in the order of the kernel's table, for the caller to free; text is theirs. */
static struct symbol *symbols_of(char *text, size_t *n)
{
	struct symbol *all = NULL, s;
	char *line;

	for (*n = 0; (line = take_line(&text)) != NULL;) {
		if (!take_symbol(line, &s))
			continue;
		if (!ARRAY_ROOM(all, *n))
			break;
		all[(*n)++] = s;
	}
	return all;
}

/* Sections whose functions are not to be traced: symbols where they begin and end. */
struct section {
	const char *first, *last;
	uint64_t start, end;
};

static bool is_within(const struct section *s, size_t n, const struct symbol *f)
{
	for (size_t i = 0; i < n && f->mod == kernel; i++)
		if (s[i].start != 0 && f->at >= s[i].start && f->at <= s[i].end)
			return true;
	return false;
}

/* Without ftrace's list: all functions but those in such sections. */
static bool add_symbols(struct functions *fs, const struct symbol *all, size_t n)
{
	struct section without[] = {{"__noinstr_text_start", "__noinstr_text_end", 0, 0},
		{"__entry_text_start", "__entry_text_end", 0, 0},
		{"__kprobes_text_start", "__kprobes_text_end", 0, 0},
		{"__cpuidle_text_start", "__cpuidle_text_end", 0, 0},
		{"_sinittext", "_einittext", 0, 0}};
	const size_t nwithout = sizeof(without) / sizeof(*without);

	for (size_t i = 0; i < n; i++)
		for (struct section *s = without; s < without + nwithout; s++) {
			if (strcmp(all[i].name, s->first) == 0)
				s->start = all[i].at;
			else if (strcmp(all[i].name, s->last) == 0)
				s->end = all[i].at;
		}
	for (size_t i = 0; i < n; i++)
		if (strchr(all[i].name, '.') == NULL && !is_within(without, nwithout, &all[i]) &&
			!add(fs, all[i].mod, all[i].name, all[i].at))
			return false;
	return true;
}

/* The addresses of functions whose names are in the list. */
static void find_addresses(struct functions *fs, const struct symbol *all, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t found = *slot_of(fs, all[i].mod, all[i].name);
		struct k_function *f = found != 0 ? &fs->all.all[found - 1] : NULL;

		if (f == NULL)
			continue;
		for (uint32_t k = f->symbols++; k > 0 && f != NULL; k--)
			f = f->same != 0 ? &fs->all.all[f->same - 1] : NULL;
		if (f != NULL)
			f->at = all[i].at;
	}
}

/*
 * Of some names there are more functions than ftrace traces. Which of them it does is not known
 * then: none is.
 */
static void leave_unsure(struct functions *fs)
{
	struct k_function *f = fs->all.all;

	for (size_t i = 0; i < fs->all.n; i++) {
		uint32_t n = 1;

		if (f[i].hidden)
			continue;
		for (const struct k_function *s = &f[i]; s->same != 0; n++)
			s = &f[s->same - 1];
		f[i].hidden = f[i].symbols != n;
	}
}

static bool is_of_x64(const char *name)
{
	return strncmp(name, "__x64_", 6) == 0;
}

/* It goes by another name, and is found by both. */
static void rename_to(struct functions *fs, struct k_function *f, const char *name)
{
	uint32_t number = (uint32_t)(f - fs->all.all) + 1, *slot = slot_of(fs, f->mod, name);

	f->alias = f->name;
	if (*slot == 0)
		*slot = number;
	f->name = name;
}

/*
 * ftrace's list has one name of a function; the symbol table may have several, side by side: that
 * of a system call and that of the same for programs of 32 bits, or a weak one.
 */
static void find_aliases(struct functions *fs, const struct symbol *all, size_t n)
{
	for (size_t i = 0, end; i < n; i = end) {
		struct k_function *f = NULL;
		const char *other = NULL;

		for (end = i; end < n && all[end].at == all[i].at; end++) {
			uint32_t found = *slot_of(fs, all[end].mod, all[end].name);

			if (f == NULL && found != 0 && fs->all.all[found - 1].at == all[i].at)
				f = &fs->all.all[found - 1];
			else if (other == NULL || is_of_x64(all[end].name))
				other = all[end].name;
		}
		if (f == NULL || other == NULL || f->at == 0)
			continue;
		if (is_of_x64(other))
			rename_to(fs, f, other);
		else
			f->alias = other;
	}
}

/* ---- reading them ------------------------------------------------------------------------- */

static void drop(struct functions *fs)
{
	if (fs == NULL)
		return;
	free(fs->all.all);
	free(fs->slot);
	free(fs->text);
	free(fs->symbols);
	free(fs);
}

/* By ftrace's list, or without it. */
static bool fill_from(struct functions *fs, const struct symbol *symbols, size_t n)
{
	char *line, *at;

	fs->text = at = read_traced();
	if (fs->text == NULL)
		return n > 0 && add_symbols(fs, symbols, n) && index_names(fs);
	while ((line = take_line(&at)) != NULL)
		if (!add_traced(fs, line))
			return false;
	if (!index_names(fs))
		return false;
	find_addresses(fs, symbols, n);
	if (n > 0)
		leave_unsure(fs);
	find_aliases(fs, symbols, n);
	return true;
}

static bool fill(struct functions *fs)
{
	struct symbol *symbols = NULL;
	size_t len, n = 0;
	bool filled;

	fs->symbols = file_read("/proc/kallsyms", MOST, &len);
	if (fs->symbols != NULL)
		symbols = symbols_of(fs->symbols, &n);
	filled = fill_from(fs, symbols, n);
	free(symbols);
	return filled;
}

static struct {
	pthread_mutex_t lock;
	struct functions *read;
	unsigned users;
} shared = {.lock = PTHREAD_MUTEX_INITIALIZER};

const struct k_functions *k_functions_get(struct et_error *e)
{
	struct functions *fs;

	pthread_mutex_lock(&shared.lock);
	fs = shared.read;
	if (fs == NULL && (fs = calloc(1, sizeof(*fs))) != NULL && !fill(fs)) {
		drop(fs);
		fs = NULL;
	}
	if (fs != NULL) {
		shared.read = fs;
		shared.users++;
	}
	pthread_mutex_unlock(&shared.lock);
	if (fs == NULL)
		et_err(e, ET_KERNEL, "the names of the kernel's functions cannot be read: %m");
	return fs != NULL ? &fs->all : NULL;
}

void k_functions_put(const struct k_functions *all)
{
	if (all == NULL)
		return;
	pthread_mutex_lock(&shared.lock);
	if (--shared.users == 0) {
		drop(shared.read);
		shared.read = NULL;
	}
	pthread_mutex_unlock(&shared.lock);
}
