#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# How long the calls of our library take that run on normal schedulers: each is measured from outside,
# by the kernel's probes at their beginnings and ends, in CPU time, while fair_tests works through a
# large script's life. Needs root and a kernel that erltrace can use. The last line is
# "N passed, N failed".

# shellcheck source=test/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
cd "$root" || exit 1
vm='' tracer=''
trap 'kill $vm $tracer 2>/dev/null; rm -rf "$tmp"' EXIT
skip() { echo "skipped: $1"; echo '0 passed, 0 failed'; exit 0; }
erltrace -qn 'syscall::getppid:entry { } BEGIN { exit(0); }' >/dev/null 2>"$tmp/e" ||
	skip "no probes of the kernel here: $(head -n 1 "$tmp/e")"
build=${BUILD:-build}
mkfifo "$tmp/in"
exec {in}<>"$tmp/in"
# Those without a dirty scheduler; the two callbacks are events, not calls.
names=$(sed -nE '/^NIF\((enabled|trace),/d; s/^NIF\(([a-z_]+), [0-9], REGULAR\)$/nif_\1/p' c_src/beam/nifs.def)
script=$(for n in $names; do
	echo "pid\$target:erltrace.so:$n:entry { self->t = vtimestamp; }"
	echo "pid\$target:erltrace.so:$n:return /self->t/ { this->d = vtimestamp - self->t; @m[probefunc] = max(this->d); @q[probefunc] = sum(this->d > 1000000); @n[probefunc] = count(); self->t = 0; }"
done
	echo "END { printa(\"%s %@d %@d %@d\\n\", @m, @q, @n); }")

# A life; $tmp/o has the longest call of each function, in ns.
life() {
	"${ERL:-erl}" -noshell -pa "$(realpath "${EBIN:-ebin}")" "$(realpath "$build/erl")" -eval '
		{ok, H} = erltrace:script("BEGIN {}"), ok = erltrace:close(H),
		io:format("loaded ~s~n", [os:getpid()]), io:get_line(""),
		erl_run:main([fair_tests, list_to_atom("'"$tmp"'")]).' <&"$in" >"$tmp/vm" 2>&1 &
	vm=$!
	ok 'a node' holds "$tmp/vm" loaded
	erltrace -Zqp "$(sed -n 's/^loaded //p' "$tmp/vm")" -n "BEGIN { printf(\"armed\\n\"); } $script" \
		>"$tmp/o" 2>"$tmp/e" &
	tracer=$!
	ok 'armed' holds "$tmp/o" armed || { cat "$tmp/e"; finish; }
	echo go >&"$in"
	wait $vm
	wait $tracer
	vm='' tracer=''
	ok 'fair_tests' grep -q '^1 passed, 0 failed' "$tmp/vm"
}

# CPU time has what interrupts take from it, too: a function that is called very often meets some.
# What is long by itself is so in each life: of each function the least of the longest counts, but for
# one call in a thousand where there are so many.
life_figures() { awk 'NF == 4 && $1 ~ /^nif_/ { print $2, $1, $3, $4 }' "$tmp/o"; }
for _ in 1 2 3 4; do
	life
	life_figures >>"$tmp/all"
	worst=$(sort -n "$tmp/all" | awk '$3 * 1000 <= $4 && $3 > 0 { next } !seen[$2]++ { w = $1 " " $2 } END { print w }')
	[ "${worst%% *}" -lt 1000000 ] && break
done
calls=$(awk '{ n += $4 } END { print n + 0 }' "$tmp/all") over=$(awk '{ n += $3 } END { print n + 0 }' "$tmp/all")
ok 'calls were seen' [ "$calls" -gt 100 ]
ok "the longest: $worst ns" [ "${worst%% *}" -lt 1000000 ]
echo "promise 7: $calls calls of $(awk '{ print $2 }' "$tmp/all" | sort -u | wc -l) functions of the library on normal schedulers, in a large script's life: $((${worst%% *} / 1000)) us of CPU at most (${worst#* }), bound 1000; interrupts made $over longer"
finish
