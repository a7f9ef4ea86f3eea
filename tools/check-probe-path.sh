#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Nothing on the probe path inside a node allocates, locks or calls the system: the call graph of
# priv/erltrace.so, from the functions that the VM's tracing calls (and dtrace:p), down to what is
# called outside of the library. Anything outside that is not in the list below is an error, with
# the way that leads there. (test/tree/probe_path.sh looks at the engine alone, by sections.)
#
#   tools/check-probe-path.sh [LIBRARY]     priv/erltrace.so
#
# What it cannot see: calls through pointers. Functions whose address is taken on the path are
# taken for called; a clause's machine code calls only what prog/rt.def lists, which is added.
# The last line is "N passed, N failed".
set -euo pipefail
cd "$(dirname "$0")/.."
lib=${1:-priv/erltrace.so}

roots='nif_enabled nif_trace nif_user_enabled nif_user_trace'
# what the core's hooks call (beam/fast/fast_calls.c)
roots="$roots on_entry on_return on_raised"
# a thread of the VM that is seen for the first time (beam/nif/nif.c)
roots="$roots thread_begins"
# the signal handler of samples, which may interrupt anything (beam/sample/sampler_handler.c)
roots="$roots sampler_on_signal"
roots="$roots $(sed -n 's/^RT(\([a-z0-9_]*\),.*/rt_\1/p' c_src/prog/rt.def)"

# plain computing
allowed='memcpy memmove memset memcmp bcmp memchr memmem strnlen strlen strcmp strncmp'
allowed="$allowed __memcpy_chk __memmove_chk __memset_chk __stack_chk_fail __errno_location"
# the vDSO and the thread's rseq area; CLOCK_THREAD_CPUTIME_ID only outside of Erlang processes
allowed="$allowed clock_gettime sched_getcpu"
# once in a thread's life: its number and the note for its end (engine/slot.c)
allowed="$allowed gettid pthread_setspecific pthread_sigmask sigismember"
# threads that block SIGSEGV read memory this way, and all of them while a handler of somebody else's
# is over ours (engine/safe.c); raise() and stop(), which a node refuses
allowed="$allowed process_vm_readv getpid syscall"
# a word of the thread's: the handler of samples asks for the scheduler's
allowed="$allowed pthread_getspecific"
# terms are looked at, never copied. enif_make_uint: small numbers, which are no memory
allowed="$allowed enif_get_tuple enif_get_list_cell enif_get_list_length enif_get_map_value"
allowed="$allowed enif_get_map_size enif_get_uint enif_get_int enif_get_int64 enif_get_uint64"
allowed="$allowed enif_get_atom enif_get_atom_length enif_get_local_pid enif_get_double"
allowed="$allowed enif_get_long enif_get_ulong enif_get_string enif_get_local_port"
allowed="$allowed enif_is_atom enif_is_pid enif_is_port enif_is_binary enif_is_number enif_is_map"
allowed="$allowed enif_is_list enif_is_tuple enif_is_ref enif_is_fun enif_is_empty_list"
allowed="$allowed enif_is_identical enif_inspect_binary enif_term_type enif_hash enif_self"
allowed="$allowed enif_make_uint enif_make_pid enif_compare enif_term_size enif_thread_type"
# of small maps, on the C stack
allowed="$allowed enif_map_iterator_create enif_map_iterator_get_pair enif_map_iterator_next"
allowed="$allowed enif_map_iterator_destroy"
# numbers with a fraction, into a buffer of the caller's (term/term_writer.c)
allowed="$allowed snprintf __snprintf_chk strtod strchr strspn strcspn strcpy"
# copies a few numbers (a driver is loaded)
allowed="$allowed enif_system_info"
# %T: pids, atoms and the like into a buffer of the caller's
allowed="$allowed enif_snprintf"

# Functions are known by their addresses: several files have a static one of the same name.
objdump -d --no-show-raw-insn "$lib" | awk '
	/^[0-9a-f]+ <.*>:$/ {
		fn = $1
		sub(/^0+/, "", fn)
		print "F", fn, substr($2, 2, length($2) - 3)
		next
	}
	# calls, jumps to other functions, addresses of functions
	match($0, /[0-9a-f]+ <[A-Za-z_][^>+]*>/) {
		split(substr($0, RSTART, RLENGTH), to, " ")
		if (to[1] != fn)
			print "C", fn, to[1]
	}' | sort -u | awk -v roots="$roots" -v allowed="$allowed" '
	BEGIN {
		n = split(allowed, a, " ")
		for (i = 1; i <= n; i++)
			ok[a[i]] = 1
		n = split(roots, a, " ")
		for (i = 1; i <= n; i++)
			is_root[a[i]] = 1
	}
	$1 == "F" { name[$2] = $3; at[$3] = $2 }
	$1 == "C" { calls[$2] = calls[$2] " " $3 }
	function way(f,    s)
	{
		for (s = name[f]; f in from; f = from[f])
			s = name[from[f]] " > " s
		return s
	}
	function visit(f, by)
	{
		if (f in seen || !(f in name))
			return
		seen[f] = 1
		if (by != "")
			from[f] = by
		queue[++n] = f
	}
	END {
		n = 0
		for (f in name)
			if (name[f] in is_root)
				visit(f, "")
		if (n == 0)
			bad = 1
		for (i = 1; i <= n; i++) {
			f = queue[i]
			if (name[f] ~ /@/) {
				plain = name[f]
				sub(/@.*/, "", plain)
				if (plain in at) # our own, by the table of links
					visit(at[plain], f)
				else if (!(plain in ok)) {
					print "check-probe-path: " way(f)
					bad = 1
				}
				continue
			}
			reached++
			m = split(calls[f], to, " ")
			for (k = 1; k <= m; k++)
				visit(to[k], f)
		}
		if (reached < 60) {
			print "check-probe-path: only " reached " functions reached: is it stripped?"
			bad = 1
		}
		print "info: " reached " functions on the probe path"
		print bad ? "0 passed, 1 failed" : "1 passed, 0 failed"
		exit bad
	}'
