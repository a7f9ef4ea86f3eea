/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The core inside this node. It is a library of its own, which lies inside this one as bytes: it is
 * loaded from memory, once, for the life of the node, and is found by its symbol ever after, by
 * this library and those that replace it.
 *
 * The words through which the JIT calls the VM are swapped by compare-and-swap: returns, exceptions
 * and entries, in this order. The first two stay for good, since a frame of ours may return at any
 * time. That of entries is swapped back when nobody takes calls any more.
 *
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "beam/atoms.h"
#include "beam/nif.h"
#include "beam/vm/layout.h"
#include "fast_calls.h"
#include "fast_core.h"
#include "fast_find.h"
#include "fast_test.h"

#ifndef MFD_EXEC
#define MFD_EXEC 0x10U
#endif

struct core *fast_core;
_Atomic uint64_t fast_slots, fast_only;
static struct fast_found found; /* written by the one process that looks */
static ErlNifMutex *lock;	/* of joining and leaving */

bool fast_core_init(void)
{
	if (lock == NULL)
		lock = enif_mutex_create("erltrace_fast");
	return lock != NULL && fast_calls_init();
}

/* ---- loading --------------------------------------------------------------------------- */

#ifdef ERLTRACE_CORE
__asm__(".section .rodata\n"
	".balign 16\n"
	".type core_image,@object\n"
	"core_image:\n"
	"	.incbin \"" ERLTRACE_CORE "\"\n"
	"core_image_end:\n"
	".size core_image,.-core_image\n"
	".text\n");
extern const char core_image[] __attribute__((visibility("hidden")));
extern const char core_image_end[] __attribute__((visibility("hidden")));
#else /* other processors have no core yet */
static const char core_image[1];
#define core_image_end core_image
#endif

static bool write_all(int fd, const char *data, size_t n)
{
	while (n > 0) {
		ssize_t done = write(fd, data, n);

		if (done <= 0)
			return false;
		data += done;
		n -= (size_t)done;
	}
	return true;
}

static void *open_image(void)
{
	char path[64];
	void *lib = NULL;
	int fd = memfd_create("erltrace_core", MFD_CLOEXEC | MFD_EXEC);

	if (fd < 0)
		fd = memfd_create("erltrace_core", MFD_CLOEXEC);
	if (fd < 0)
		return NULL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (write_all(fd, core_image, (size_t)(core_image_end - core_image)))
		lib = dlopen(path, RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
	close(fd);
	return lib;
}

/* The core that is loaded; NULL: none, or one that we do not know (why). */
static struct core *loaded_core(const char **why)
{
	struct core *c = dlsym(RTLD_DEFAULT, CORE_SYMBOL);

	*why = NULL;
	if (c != NULL && (c->abi != CORE_ABI || c->size != sizeof(*c))) {
		*why = "an erltrace of another version has its hooks in this node";
		return NULL;
	}
	return c;
}

static struct core *load_core(const char **why)
{
	struct core *c = loaded_core(why);

	if (c != NULL || *why != NULL)
		return c;
	if (&core_image_end[0] == &core_image[0]) {
		*why = "not for this kind of processor";
		return NULL;
	}
	if (open_image() == NULL) {
		*why = "the core cannot be loaded from memory";
		return NULL;
	}
	return loaded_core(why);
}

/* ---- words ----------------------------------------------------------------------------- */

static bool swap(const struct core_word *w, uintptr_t from, uintptr_t to)
{
	return __atomic_compare_exchange_n(
		       w->writable, &from, to, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) &&
	       __atomic_load_n(w->at, __ATOMIC_SEQ_CST) == to;
}

/* The return and exception words, which stay. */
static const char *install(void)
{
	const char *why;
	struct core *c = load_core(&why);

	if (c == NULL)
		return why;
	if (!atomic_load(&c->installed)) {
		c->vm = found.vm;
		c->word_entry = found.entry;
		c->word_ret = found.ret;
		c->word_error = found.error;
		if (!swap(&c->word_ret, c->vm.ret, c->hook_ret))
			return "the word of returns cannot be changed";
		if (!swap(&c->word_error, c->vm.error, c->hook_error)) {
			swap(&c->word_ret, c->hook_ret, c->vm.ret); /* there is no frame yet */
			return "the word of exceptions cannot be changed";
		}
		atomic_store(&c->installed, true);
	}
	fast_core = c;
	beam_fast_frames = &c->vm;
	return NULL;
}

/* ---- who is in charge ------------------------------------------------------------------ */

/* Under the lock. */
static bool take_charge(const struct core_ops *ops)
{
	const struct core_ops *none = NULL;

	if (!atomic_compare_exchange_strong(&fast_core->ops, &none, ops))
		return false; /* another library's */
	if (swap(&fast_core->word_entry, fast_core->vm.entry, fast_core->hook_entry))
		return true;
	atomic_store(&fast_core->ops, NULL);
	return false;
}

static void give_back(void)
{
	swap(&fast_core->word_entry, fast_core->hook_entry, fast_core->vm.entry);
	atomic_store(&fast_core->ops, NULL);
	fast_core->wait();
}

/* Under the lock. */
static void set_slots(uint64_t in)
{
	bool one = in != 0 && (in & (in - 1)) == 0;

	atomic_store(&fast_only, one ? (uint64_t)__builtin_ctzll(in) : 0);
	atomic_store(&fast_slots, in);
}

bool fast_core_join(unsigned slot)
{
	bool in = true;

	if (fast_core == NULL)
		return false;
	enif_mutex_lock(lock);
	if (atomic_load(&fast_slots) == 0)
		in = take_charge(&fast_ops);
	if (in)
		set_slots(atomic_load(&fast_slots) | 1ULL << slot);
	enif_mutex_unlock(lock);
	return in;
}

void fast_core_leave(unsigned slot)
{
	uint64_t bit = 1ULL << slot, in;

	enif_mutex_lock(lock);
	in = atomic_load(&fast_slots);
	set_slots(in & ~bit);
	if (in == bit) {
		give_back();
		fast_calls_free();
	}
	enif_mutex_unlock(lock);
}

/* ---- the search ------------------------------------------------------------------------- */

static ERL_NIF_TERM step_done(ErlNifEnv *env, bool ok)
{
	return find_answer(env, &fast_search, ok);
}

/* A core that an older library has left here is taken over as it is. */
static ERL_NIF_TERM adopt(ErlNifEnv *env)
{
	const char *why;
	struct core *c = loaded_core(&why);

	if (why != NULL)
		return beam_refused(env, why);
	if (c == NULL || !atomic_load(&c->installed))
		return atom_undefined;
	fast_core = c;
	beam_fast_frames = &c->vm;
	return step_done(env, find_conclude(&fast_search, true));
}

/* [Installed, word of entries is ours, somebody is in charge, frames that found no room] */
static ERL_NIF_TERM state(ErlNifEnv *env)
{
	struct core *c = fast_core;
	bool hooked = c != NULL && *c->word_entry.at == c->hook_entry;

	return enif_make_list4(env, enif_make_uint(env, c != NULL), enif_make_uint(env, hooked),
		enif_make_uint(env, c != NULL && atomic_load(&c->ops) != NULL),
		enif_make_uint64(env, c != NULL ? atomic_load(&c->missed) : 0));
}

static ERL_NIF_TERM test(ErlNifEnv *env, bool begin)
{
	bool ok;

	if (fast_core == NULL)
		return beam_refused(env, "not installed");
	enif_mutex_lock(lock);
	if (begin) {
		ok = atomic_load(&fast_slots) == 0 && take_charge(&fast_test_ops);
	} else {
		ok = atomic_load(&fast_core->ops) == &fast_test_ops;
		if (ok)
			give_back();
	}
	enif_mutex_unlock(lock);
	return ok ? atom_ok : beam_refused(env, "somebody else takes calls");
}

/*
 * What tests change of what the finder sees: {flip, N}, {spoil, N}, {missing, Perms} and the like.
 */
static bool spoil_step(ErlNifEnv *env, const char *step, ERL_NIF_TERM arg)
{
	static const char *const faults[] = {[MAP_MISSING] = "missing",
		[MAP_OF_OTHER_FILE] = "other_file",
		[MAP_ELSEWHERE] = "elsewhere"};
	static char perms[5];
	unsigned n = 0;

	enif_get_uint(env, arg, &n);
	if (strcmp(step, "flip") == 0) {
		fast_find_flip(n);
		return true;
	}
	if (strcmp(step, "spoil") == 0) {
		fast_find_spoil(n);
		return true;
	}
	for (unsigned i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
		if (strcmp(step, faults[i]) == 0) {
			bool named =
				enif_get_atom(env, arg, perms, sizeof(perms), ERL_NIF_LATIN1) == 5;

			fast_find_maps(named ? perms : NULL, i);
			return true;
		}
	return false;
}

/* code, {catches, 0..2}, {sensitive, 0..1}, return, in this order; or a core that is there: adopt */
static ERL_NIF_TERM observe(const struct find_step *s)
{
	ErlNifEnv *env = s->env;
	unsigned n = 0;

	enif_get_uint(env, s->arg, &n);
	if (strcmp(s->name, "code") == 0)
		return step_done(
			env, fast_find_code(&found, env, atom_erltrace_fastcalls, atom_one));
	if (strcmp(s->name, "catches") == 0)
		return step_done(env, fast_find_catches(&found, env, n));
	if (strcmp(s->name, "sensitive") == 0)
		return step_done(env, fast_find_sensitive(&found, env, n));
	if (strcmp(s->name, "return") == 0)
		return step_done(env, fast_find_return(&found, env));
	return strcmp(s->name, "adopt") == 0 ? adopt(env) : 0;
}

static ERL_NIF_TERM install_step(ErlNifEnv *env)
{
	const char *why = atomic_load(&fast_search.state) == FIND_CONCLUDED
				  ? install()
				  : "the words are not known";

	return why == NULL ? atom_ok : beam_refused(env, why);
}

/*
 * install; test_start, test_stop, forget: the self-test, with what fast_test.c counts, and its end if
 * it failed; state; what tests ask.
 */
static ERL_NIF_TERM ask(const struct find_step *s)
{
	ErlNifEnv *env = s->env;

	if (s->has_arg)
		return spoil_step(env, s->name, s->arg) ? atom_ok
							: fast_test_step(env, s->name, s->arg);
	if (strcmp(s->name, "install") == 0)
		return install_step(env);
	if (strcmp(s->name, "test_start") == 0 || strcmp(s->name, "test_stop") == 0)
		return test(env, s->name[7] == 'a');
	if (strcmp(s->name, "forget") == 0) { /* nobody may join */
		fast_core = NULL;
		return atom_ok;
	}
	if (strcmp(s->name, "state") == 0)
		return state(env);
	if (strcmp(s->name, "facts") == 0) /* what was found, to be compared */
		return beam_make_binary(env, &found, sizeof(found));
	if (strcmp(s->name, "bytes") == 0)
		return enif_make_uint64(env, fast_find_bytes());
	if (strcmp(s->name, "words_read") == 0)
		return enif_make_uint64(env, fast_find_words_read());
	return 0;
}

static void start(ErlNifEnv *env)
{
	(void)env;
	memset(&found, 0, sizeof(found));
}

static bool conclude(ErlNifEnv *env)
{
	(void)env;
	return fast_find_words(&found);
}

const struct find_fact fast_fact = {.name = "fast",
	.find = &fast_search,
	.start = start,
	.observe = observe,
	.ask = ask,
	.conclude = conclude};
