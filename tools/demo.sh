#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# make demo: D scripts at work on the dtrace and profile providers, in some ten seconds. Each
# command is shown, then run. erltrace is in PATH.

set -u

if [[ -t 1 ]]; then
	bold=$'\e[1m' dim=$'\e[2m' off=$'\e[0m'
else
	bold='' dim='' off=''
fi

show() { # what it shows, then the erltrace command
	printf '\n%s%s%s\n' "$bold" "$1" "$off"
	shift
	printf '%s$' "$dim"
	printf ' %s' erltrace
	local a
	for a in "$@"; do
		case $a in
		*[\ \{\"\$\;]*) printf " '%s'" "$a" ;;
		*) printf ' %s' "$a" ;;
		esac
	done
	printf '%s\n' "$off"
	erltrace "$@" 2>&1
}

show '1. A clause fires once, prints, and leaves; the distribution comes at the end.' \
	-n 'BEGIN { @["bytes", 1] = quantize(10); @["bytes", 1] = quantize(100);
    printf("hello from %s, process %d\n", execname, pid); exit(0); }'

show '2. How late do timers fire? 100 a second for two seconds, in steps of 50 microseconds.' \
	-qn 'uint64_t last;
  tick-10ms /last/ { @["microseconds off"] =
    lquantize((int64_t)(timestamp - last - 10000000) / 1000, -200, 200, 50); }
  tick-10ms { last = timestamp; n++; }
  tick-2s { printf("%d ticks\n", n); exit(0); }'

show '3. Several aggregations in one table, sorted by the first; a fault is told, not suffered.' \
	-qn 'BEGIN { x = 7; }
  tick-5ms { this->k = x % 3 == 0 ? "fizz" : x % 5 == 0 ? "buzz" : "other"; x++;
    @n[this->k] = count(); @sum[this->k] = sum(x); @avg[this->k] = avg(x); }
  tick-1s { printf("%-10s %8s %8s %8s\n", "word", "count", "sum", "avg");
    printa("%-10s %@8d %@8d %@8d\n", @n, @sum, @avg); trunc(@n); trunc(@sum); trunc(@avg); }
  tick-1s { trace(*(int *)0); }
  tick-1s { exit(0); }'

show '4. A mistake, and where it is (on a terminal with a caret below).' \
	-n 'BEGIN { @a = quantize("text"); }'

# shellcheck disable=SC2016 # $1 is the script's
show '5. What the compiler makes of a clause: eBPF.' \
	-e -S -n 'tick-1s /pid == $1/ { @[execname] = count(); }' 1

show '6. The same results for programs: JSON, one object a line.' \
	--json -qn 'BEGIN { @["a", 1] = quantize(10); printf("%d\n", 42); exit(0); }'

printf '\n%sMore: README.md, man/erltrace.1, and make test.%s\n' "$bold" "$off"
exit 0
