#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# make bench: everything that is measured, in one run; then a table, bench/results.json, the charts
# of doc/img and doc/bench.md. QUICK=1: three minutes instead of fifteen, rougher, and doc/ is left
# as it is. PARTS='engine compare': some of it (then doc/ is left too). USDT_OTP=DIR: an Erlang/OTP
# built with USDT probes (configure --with-dynamic-trace=systemtap), for what needs one.
#
# The folder: engine_bench.c (bench.h) has the engine alone, erl_bench.erl the probes of a node
# against a tracer that does nothing (null_tracer), bench_calls.erl what a call costs by each way to
# function probes, bench_samples.erl what samples cost, bench_state.erl what it costs to ask what there
# is, bench_flows.erl what it costs to follow a request, bench_compare.erl the ways to trace (bench_ways.erl) side by side at the same work
# (bench_loads.erl), bench_growth.erl how costs grow, first_bench.sh the command's start, print_bench.sh a script that prints a lot,
# stall_bench.sh (bench_stalls.erl) how long attaching and arming keep a process from running,
# kernel_bench.sh probes of the kernel, page_bench.sh the live page, rabbit_bench.sh RabbitMQ under
# load. Each adds rows to the file that BENCH_ROWS names, lines of JSON; bench_report.erl and
# bench_chart.erl make of them what people read. Parts can be run
# alone: make bench-erlang, bench/kernel_bench.sh ...

set -u
# shellcheck source=bench/tracefs.sh
. "$(dirname "$0")/tracefs.sh"
cd "$(dirname "$0")/.." || exit 1
BUILD=${BUILD:-build} BIN=${BIN:-bin} EBIN=${EBIN:-ebin}
PATH=$(cd "$BIN" && pwd):$PATH
dir=$BUILD/bench
mkdir -p "$dir"
BENCH_ROWS=$(realpath "$dir")/rows
export BENCH_ROWS LC_ALL=C ERL_CRASH_DUMP=/dev/null
: >"$BENCH_ROWS"
[[ ${QUICK-} == 0 ]] && QUICK=''
export QUICK=${QUICK-}
[[ -n $QUICK ]] && export ROUNDS=2 CALLS=300000
all='engine node calls samples state flows compare growth first print stall kernel page rabbit'
parts=${PARTS:-${QUICK:+engine node calls samples state flows compare growth first kernel}}
parts=${parts:-$all}

have_erlang() { [[ -e $EBIN/erltrace.app ]]; }

erlang() { # an expression, with the modules of this folder
	"${ERL:-erl}" -noshell "${@:2}" -pa "$EBIN" "$BUILD/erl" -eval "$1, halt()."
}

part() {
	case $1 in
	engine) "$BUILD/bench/engine_bench" "$BIN/erltrace" ;;
	node) have_erlang && erlang 'erl_bench:main()' +S 1 ;;
	calls) have_erlang && erlang 'bench_calls:main()' +S 1 ;;
	samples) have_erlang && erlang 'bench_samples:main()' ;;
	state) have_erlang && erlang 'bench_state:main()' ;;
	flows) have_erlang && erlang 'bench_flows:main()' ;;
	compare) have_erlang && erlang 'bench_compare:main()' ;;
	growth) have_erlang && erlang 'bench_growth:main()' ;;
	first) have_erlang && bench/first_bench.sh ;;
	print) have_erlang && bench/print_bench.sh ;;
	stall) have_erlang && bench/stall_bench.sh ;;
	kernel) bench/kernel_bench.sh ;;
	page) have_erlang && [[ -e web/dist/index.html ]] && bench/page_bench.sh ;;
	rabbit) have_erlang && bench/rabbit_bench.sh ;;
	*) echo "no such part: $1 (there are: $all)" && return 1 ;;
	esac
}

[[ -e $BUILD/bench/engine_bench ]] || { echo "bench: not built: make bench" >&2; exit 1; }
printf '{"part": "machine", "cpu": "%s", "cpus": %d, "kernel": "%s", "otp": "%s", "load": %s, "quick": %s, "date": "%s"}\n' \
	"$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" "$(nproc)" "$(uname -r)" \
	"$(have_erlang && erlang 'io:format("~s", [erlang:system_info(otp_release)])')" \
	"$(cut -d' ' -f1 /proc/loadavg)" "$([[ -n $QUICK ]] && echo true || echo false)" \
	"$(date +%F)" >>"$BENCH_ROWS"
for p in $parts; do
	began=$SECONDS
	printf 'bench: %-8s ' "$p" >&2
	if part "$p" >"$dir/$p.log" 2>&1 </dev/null; then
		echo "$((SECONDS - began)) s" >&2
	else
		echo "FAILED or not here after $((SECONDS - began)) s, see $dir/$p.log:" >&2
		tail -n 3 "$dir/$p.log" | sed 's/^/    /' >&2
	fi
done
{
	echo '['
	sed '$!s/$/,/' "$BENCH_ROWS"
	echo ']'
} >bench/results.json
have_erlang || exit 0
echo >&2
erlang 'bench_report:terminal("bench/results.json")'
if [[ -z $QUICK && $parts == "$all" ]]; then
	erlang 'bench_report:doc("bench/results.json", "doc")'
fi
