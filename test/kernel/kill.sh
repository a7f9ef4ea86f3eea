#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Killed -9 at any moment, while it compiles, loads, runs or ends: no program, map, link or pin of
# the command is left in the kernel. The last line is "N passed, N failed".
#
#	test/kernel/kill.sh [ROUNDS]      default: 16

# shellcheck disable=SC2016 # $target is D's
# shellcheck source=test/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
export LC_ALL=C
cd "$tmp" || exit 1
trap 'cd /; rm -rf "$tmp"' EXIT
rounds=16
[[ ${1-} =~ ^[0-9]+$ ]] && rounds=$1

if ! why=$(timeout 120 erltrace -qn 'syscall::getpid:entry { } BEGIN { exit(0); }' 2>&1 >/dev/null); then
	echo "skipped: no probes of the kernel here: $why"
	finish
fi
if ! command -v bpftool >/dev/null || ! bpftool prog show >/dev/null 2>&1; then
	echo 'skipped: no bpftool here that shows what is in the kernel'
	finish
fi

# Others may trace at the same time: what is ours has the name of our command in its descriptors'
# process. So what a killed one had is noted before, and what nobody has is looked for afterwards.
ours() { # what a process has in the kernel: "prog 12"
	sed -n 's/^\(prog\|map\|link\|btf\)_id:[[:space:]]*/\1 /p' /proc/"$1"/fdinfo/* 2>/dev/null | sort -u
}
left() { # of the kinds and ids on stdin: which are there still, after a while
	local kind id i
	while read -r kind id; do
		for ((i = 0; i < 1200; i++)); do # the kernel frees them when all CPUs have left them
			bpftool "$kind" show id "$id" >/dev/null 2>&1 || break
			sleep 0.05
		done
		((i < 1200)) || echo "$kind $id"
	done
}

# How long does it take? Moments are spread over that.
script='BEGIN { printf("on\n"); } syscall:::entry { @[execname, probefunc] = count(); self->t = timestamp; }
	syscall:::return /self->t/ { @t[probefunc] = quantize(timestamp - self->t); self->t = 0; }
	pid$target:a.out:main:entry { n++; } sched:::off-cpu, proc:::exec { @s[execname] = count(); }
	profile-997 { @u[ustack(5)] = count(); } tick-300ms { exit(0); }'
cat >nap.c <<'C'
#include <unistd.h>
int main(void)
{
	sleep(30);
	return 0;
}
C
command=/bin/cat
${CC:-cc} -o nap nap.c 2>/dev/null && command=./nap
begin=$(date +%s%N)
timeout 120 erltrace -qn "$script" -c $command >out 2>&1 </dev/null
whole=$((($(date +%s%N) - begin) / 1000))
is 'it runs by itself' 'on' "$(head -1 out)"

caught=0 running=0 seen=have.all
: >$seen
RANDOM=1
for ((r = 0; r < rounds; r++)); do
	erltrace -qn "$script" -c $command >out 2>/dev/null </dev/null &
	pid=$!
	us=$(((RANDOM * 32768 + RANDOM) % whole))
	sleep "$(printf '%d.%06d' $((us / 1000000)) $((us % 1000000)))"
	ours $pid >have
	child=$(ps -o pid= --ppid $pid)
	kill -9 $pid 2>/dev/null && caught=$((caught + 1))
	wait $pid 2>/dev/null
	[ -s have ] && running=$((running + 1))
	cat have >>"$seen"
	for p in $child; do
		[ "$(cat /proc/"$p"/comm 2>/dev/null)" = "$(basename $command)" ] && kill "$p" 2>/dev/null
	done
done
sort -u "$seen" >all
echo "info: $rounds rounds, $caught killed while they ran, $running with something in the kernel ($(wc -l <all) things)"
is 'nothing is left of what they had' '' "$(left <all | tr '\n' ' ')"
# What came between the look and the signal: anything called erltrace that no process has.
orphans() {
	local held kind id
	held=$(for p in /proc/[0-9]*; do ours "${p#/proc/}"; done | sort -u)
	for kind in prog map; do
		bpftool $kind show 2>/dev/null | sed -n 's/^\([0-9]*\): .* name erltrace.*/\1/p' |
			while read -r id; do
				grep -qx "$kind $id" <<<"$held" || echo "$kind $id"
			done
	done
}
for ((i = 0; i < 100; i++)); do
	got=$(orphans)
	[ -z "$got" ] && break
	sleep 0.1
done
is 'nothing called erltrace is held by nobody' '' "$got"
pins=$(bpftool -f prog show 2>/dev/null | grep -A6 'name erltrace' | grep -c pinned)
is 'nothing is pinned' 0 "$pins"
finish
