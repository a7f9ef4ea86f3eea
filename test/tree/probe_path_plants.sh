#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The check of the probe path (probe_path.sh) fails for what must not be there: one more object file is
# planted among those of the build, with a function on the path that does what none may do.
#
#   test/tree/probe_path_plants.sh [DIR]     DIR: where the object files are; build
. "$(dirname "$0")/../lib/checks.sh"
trap 'rm -rf "$tmp"' EXIT
cd "$root" || exit 1
build=${1:-build}
if [[ ! -d $build/c_src/beam ]]; then
	echo 'probe_path_plants: the NIF library is not built (no Erlang here): left out'
	finish
	exit
fi

# The check, with this source among the others; what it says.
plant() { # C source
	rm -rf "$tmp/plants"
	mkdir -p "$tmp/plants/c_src"
	cp -rs "$(realpath "$build")"/c_src/{engine,prog,term,api,beam} "$tmp/plants/c_src/"
	printf '#include <stdlib.h>\n#include "compiler.h"\n%s\n' "$1" >"$tmp/planted.c"
	${CC:-cc} -O2 -fPIC -std=gnu11 -Ic_src -c -o "$tmp/plants/c_src/beam/events/planted.o" "$tmp/planted.c" &&
		test/tree/probe_path.sh "$tmp/plants"
}

like 'what the build has' '1 passed' "$(plant 'int planted;')"
like 'malloc' 'planted.o: planted calls malloc' "$(plant '
void *planted(size_t n);
PROBE_PATH void *planted(size_t n) { return malloc(n); }')"
like 'a lock' 'planted calls pthread_mutex_lock' "$(plant '
#include <pthread.h>
int planted(pthread_mutex_t *m);
PROBE_PATH int planted(pthread_mutex_t *m) { return pthread_mutex_lock(m); }')"
like 'a message' 'planted calls enif_send' "$(plant '
int enif_send(void *env, const void *to, void *msg_env, unsigned long msg);
int planted(void *env);
PROBE_PATH int planted(void *env) { return enif_send(env, NULL, NULL, 0) + 1; }')"
like 'a function of ours without a mark' 'planted calls helper, which is not marked PROBE_PATH' "$(plant '
static __attribute__((noinline)) int helper(int n) { __asm__ volatile(""); return n; }
int planted(int n);
PROBE_PATH int planted(int n) { return helper(n) + 1; }')"
like 'the same in another file' 'planted calls beam_atom_text_init, which is not marked' "$(plant '
void beam_atom_text_init(void);
int planted(void);
PROBE_PATH int planted(void) { beam_atom_text_init(); return 1; }')"
like 'a callback without a mark' 'planted > table calls callback, which is not marked' "$(plant '
static int callback(int n) { return n; }
static int (*const table[])(int) = {NULL, callback};
int planted(int n, unsigned i);
PROBE_PATH int planted(int n, unsigned i) { return table[i](n) + 1; }')"
like 'a callback that allocates' 'planted > table calls malloc' "$(plant '
static void *(*const table[])(size_t) = {NULL, malloc};
void *planted(unsigned i);
PROBE_PATH void *planted(unsigned i) { return table[i](1); }')"
like 'an address that is given away' 'planted calls free' "$(plant '
void planted(void (**to)(void *));
PROBE_PATH void planted(void (**to)(void *)) { *to = free; }')"

like 'an entry point that is not marked' 'sampler_on_signal is an entry point, and not marked' "$(
	plant 'int planted;' >/dev/null
	rm -r "$tmp/plants/c_src/beam/sample"
	test/tree/probe_path.sh "$tmp/plants"
)"
finish
