#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Nothing on the probe path allocates, locks or calls the system. Functions that run while a probe
# fires are marked PROBE_PATH and lie in the section .text.probe. This lists, from the relocations
# of that section in every object file, what is called or pointed to from there, and fails for
# anything that is neither in such a section itself nor in the list below.
#
#   test/tree/probe_path.sh DIR      DIR: where the object files are (searched)
#
# What it cannot see: calls through pointers (a clause's machine code, a provider's callbacks in
# struct en_current), and what functions of the list do inside.
set -eu

dir=${1:-build}
objs=$(find "$dir" \( -path '*/engine/*' -o -path '*/prog/*' \) -name '*.o' ! -path '*san*' ! -path '*bpf/c_src*' | sort)
if [ -z "$objs" ]; then
	echo "probe_path: no object files of the engine below $dir" >&2
	exit 1
fi

# plain computing of libc's
allowed='memcpy memmove memset memcmp bcmp memchr memmem strnlen __memcpy_chk __memmove_chk __memset_chk'
allowed="$allowed __stack_chk_fail __errno_location __tls_get_addr"
# the vDSO and the thread's rseq area. CLOCK_THREAD_CPUTIME_ID, for vtimestamp, is a system call:
# only scripts that read it outside of Erlang processes have it
allowed="$allowed clock_gettime sched_getcpu"
# the interpreter: where programs are not compiled to machine code
allowed="$allowed ebpf_run"
# once in a thread's life: its number (gettid) and the note for its end
allowed="$allowed en_thread_init"
# reading memory in threads that block SIGSEGV, where a fault would kill
allowed="$allowed process_vm_readv getpid"
# raise() and stop() of D: destructive, they are system calls by nature
allowed="$allowed syscall"

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# the functions of the section (local ones too), and everything that is data
for o in $objs; do
	objdump -t "$o"
done | awk '/ \.text\.probe/ { print $NF } / O \.| \.t(bss|data)/ { print $NF }' | sort -u >"$tmp/own"
echo "$allowed" | tr ' ' '\n' | sort -u >"$tmp/allowed"

for o in $objs; do
	objdump -r -j .text.probe "$o" 2>/dev/null | awk -v file="$(basename "$o")" '
		/^[0-9a-f]+ / {
			name = $3
			sub(/[-+]0x[0-9a-f]+$/, "", name)
			sub(/@.*$/, "", name)
			print name, file
		}'
done | sort -u >"$tmp/called"

bad=0
while read -r name file; do
	case $name in
	.text.probe | .rodata* | .data* | .bss* | .tbss* | .tdata* | .LC* | _GLOBAL_OFFSET_TABLE_) continue ;;
	esac
	if grep -qx -- "$name" "$tmp/own" || grep -qx -- "$name" "$tmp/allowed"; then
		continue
	fi
	# data of other files (a table of aggregating functions, say) is no call
	if objdump -t $objs | grep -qE " (O|\*COM\*) .* $name\$"; then
		continue
	fi
	echo "probe_path: $file calls $name" >&2
	bad=1
done <"$tmp/called"

n=$(wc -l <"$tmp/called")
if [ "$n" -lt 20 ]; then
	echo "probe_path: only $n references found: is the section there?" >&2
	bad=1
fi
[ "$bad" -eq 0 ] && echo "1 passed, 0 failed" || echo "0 passed, 1 failed"
exit "$bad"
