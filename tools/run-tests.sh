#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs the tests that the Makefile has built, in lanes beside each other, and sums them up. Every test
# ends with a line "N passed, N failed"; so does this. Called by make, which sets BUILD, BIN, LIB.
#
#	tools/run-tests.sh all    every test, with those of the sanitized build
#	tools/run-tests.sh asan   every test on the sanitized build
#	tools/run-tests.sh erlang those of the Erlang side; ONLY=TEXT: whose names hold TEXT
#	tools/run-tests.sh releases  the command of here against VMs of other releases (tools/test-otp.sh has them)
#	tools/run-tests.sh nif    of those the Erlang modules, in nodes with PRELOAD loaded
#	tools/run-tests.sh tsan   those of many threads, with ThreadSanitizer
#	tools/run-tests.sh fuzz   the fuzz targets only, FUZZ_SECONDS each

set -u
shopt -s nullglob

BUILD=${BUILD:-build} BIN=${BIN:-bin} LIB=${LIB:-lib}
san=$BUILD/san
log=$BUILD/log
export BUILD BIN LIB
export ASAN_OPTIONS=${ASAN_OPTIONS:-detect_leaks=1:allow_user_segv_handler=1:abort_on_error=0}
export UBSAN_OPTIONS=${UBSAN_OPTIONS:-print_stacktrace=1}
passed=0 failed=0 skipped=() broken=()
mkdir -p "$log"

# Takes over the counts of a finished test; what failed is shown.
count() { # name, its log, its exit code, seconds
	local name=$1 file=$2 status=$3 seconds=$4 last line p=0 f=0

	last=$(tail -n 1 "$file")
	if [[ $last =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]]; then
		p=${BASH_REMATCH[1]} f=${BASH_REMATCH[2]}
		((status != 0 && f == 0)) && f=1
	else
		f=1
		last="no result, exit code $status"
	fi
	# What is not here to be tested is said, not counted; and once more at the end.
	while IFS= read -r line; do
		skipped+=("$name: ${line#skipped: }")
	done < <(grep '^skipped: ' "$file")
	[[ $p$f == 00 ]] && last=$(grep -m 1 '^skipped: ' "$file" || echo "$last")
	printf '%-28s %s (%s s)\n' "$name" "$last" "$seconds"
	((f == 0)) || sed 's/^/    /' "$file" | tail -n "${SHOW_LINES:-200}"
	passed=$((passed + p)) failed=$((failed + f))
	((f == 0)) || broken+=("$name: $last" "$(where "$file")")
}

# Where a log first tells of a failure: that much is told once more at the end.
where() { # log
	grep -m 3 -A 16 -E '\*failed\*|FAILED' "$1" |
		grep -v 'in call from eunit' | head -n 24 | cut -c 1-160 | sed 's/^/    /'
}

# A command that says nothing about counts.
checked() { # command...
	if "$@"; then
		echo '1 passed, 0 failed'
	else
		echo '0 passed, 1 failed'
	fi
}
export -f checked

# Those that another lane runs.
elsewhere=()

run() { # name, command...
	local name=$1 file=$log/${1//\//_}.log start=$SECONDS status
	shift
	[[ " ${elsewhere[*]} " == *" $name "* ]] && return
	# longer than those that a test has itself, which tells how far it came
	timeout -k 10 "${TEST_TIMEOUT:-900}" "$@" >"$file" 2>&1 </dev/null
	status=$?
	count "$name" "$file" "$status" $((SECONDS - start))
}

# Tests of another lane, one after the other, beside those of the first; gather() counts them.
lanes=()
beside() { # function, arguments...
	local results=$log/lane-${#lanes[@]}
	: >"$results"
	(
		# shellcheck disable=SC2317 # run() calls it
		count() { echo "$*" >>"$results"; }
		"$@"
	) &
	lanes+=("$!:$results")
}

gather() {
	local lane name file status seconds
	for lane in "${lanes[@]}"; do
		wait "${lane%%:*}"
		while read -r name file status seconds; do
			count "$name" "$file" "$status" "$seconds"
		done <"${lane#*:}"
	done
}

# The scripts of the golden tests, as inputs to begin with: they use all of the language.
golden_seeds() { # folder
	sed -n "s/^\$ erltrace -[a-z]*n '\([^']*\)'.*/\1/p" test/golden/*/*.t |
		split -l 1 -a 4 -d - "$1/golden-"
}

# A fuzz target over its corpus, then for some seconds; a crash is kept and shown.
fuzz() { # target, seconds
	local target=$1 seconds=$2 name corpus work
	name=$(basename "$target")
	corpus=test/corpus/$name
	work=$san/corpus/$name
	mkdir -p "$work" "$corpus"
	[[ $name == fuzz_d ]] && golden_seeds "$work"
	if "$target" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=2048 -print_final_stats=1 \
		-artifact_prefix="$san/" "$work" "$corpus" 2>&1; then
		echo "1 passed, 0 failed"
	else
		echo "0 passed, 1 failed"
	fi
}

# The name of a test: its file's, below test/ (node/flags).
name_of() { # file
	local name=${1#test/}
	echo "${name%.*}"
}

# Every test/{c,kernel,web}/*.c, below a folder of programs.
programs() { # folder, prefix of the names, how many random programs (0: computing() has them)
	local source name
	for source in test/{c,kernel,web}/*.c; do
		name=$(name_of "$source")
		case $name in
		c/bpf_diff) (($3 == 0)) || run "$2$name" "$1/test/$name" "$3" ;;
		c/*) run "$2$name" "$1/test/$name" ;;
		*) # not with WEB= or KERNEL=, those of the kernel not sanitized
			[[ -x $1/test/$name ]] && run "$2$name" "$1/test/$name" ;;
		esac
	done
}

scripts() {
	local t
	run golden test/golden.sh
	run scripts "$BIN/erltrace" test test/scripts
	for t in test/{cli,kernel,model,tree,web}/*.sh; do
		run "$(name_of "$t")" bash "$t" "$BUILD"
	done
	run manual tools/check-manual.sh
}

has_erlang() {
	[[ -e ${EBIN:-ebin}/erltrace.app && -e $BUILD/erl/erl_run.beam ]] && return
	echo 'erlang: not built (no Erlang here): left out'
	return 1
}

# An Erlang module (EUnit, Common Test, PropEr), in a node of its own.
module() { # name
	run "$1" env ${PRELOAD:+LD_PRELOAD="$PRELOAD"} "${ERL:-erl}" +pc unicode -noshell \
		-pa "$(realpath "${EBIN:-ebin}")" "$(realpath "$BUILD/erl")" -s erl_run main "$1" "$log"
}

modules() {
	local t name
	for t in test/erl/{*_tests,*_SUITE,prop_*}.erl; do
		name=$(basename "$t" .erl)
		[[ $name == *${ONLY-}* ]] || continue
		if [[ $name == prop_* && ! -e $BUILD/erl/$name.beam ]]; then
			echo "$name: no PropEr here: left out"
			continue
		fi
		module "$name"
	done
}

# Types. The first time this makes the table of OTP's types, which takes a minute.
types() {
	[[ dialyzer == *${ONLY-}* ]] || return
	if ! command -v dialyzer >/dev/null; then
		echo 'dialyzer: not here: left out'
		return
	fi
	run dialyzer bash -c 'checked "$@"' checked make -s dialyzer
}

# These, and what takes a shell: the command against nodes, what is installed, projects that depend
# on this one.
erlang() {
	local t name
	has_erlang || return
	[[ probe-path == *${ONLY-}* && ${EBIN:-ebin} == ebin ]] &&
		run probe-path tools/check-probe-path.sh "${PRIV:-priv}/erltrace.so"
	[[ beam_threads == *${ONLY-}* && -x $BUILD/test/beam/beam_threads ]] &&
		run beam_threads "$BUILD/test/beam/beam_threads"
	modules
	[[ edoc == *${ONLY-}* ]] && run edoc bash -c 'checked "$@"' checked make -s edoc
	types
	for t in test/node/*.sh; do
		name=$(name_of "$t")
		[[ $name == *${ONLY-}* ]] || continue
		run "$name" bash "$t"
		grep -s '^info: ' "$log/${name//\//_}.log"
	done
}

fuzzers() { # seconds
	local source name
	export -f fuzz golden_seeds
	export san
	for source in test/fuzz/*.c; do
		name=$(basename "$source" .c)
		TEST_TIMEOUT=$(($1 + 600)) run "$name" \
			bash -c 'fuzz "$@"' fuzz "$san/test/fuzz/$name" "$1"
		[[ ${SHOW_FUZZ-} ]] && grep -E '^stat::|^#[0-9]+.*DONE' "$log/$name.log"
	done
}

# Those of the second lane: each has nodes, ports and files of its own.
long=(web/{page,end,host,user,web_test} node/{node_manual,deps,serve,serve_hostile,serve_members,alerts,keys}
	node/{follow,flows,reach,scripts} kernel/kernel_manual)
second_lane() {
	local name
	for name in "${long[@]}"; do
		[[ $name == node/* ]] && ! has_erlang >/dev/null && continue
		run "$name" bash "test/$name.sh" "$BUILD"
	done
}

# Those of the third: they wait most of the time.
patient=(dialyzer deploy_attack_tests deploy_tests slots_tests flow_tests erltrace_SUITE node/{release,faults,trio,taken,nothing})
third_lane() {
	local name
	has_erlang >/dev/null || return
	for name in "${patient[@]}"; do
		case $name in
		*/*) run "$name" bash "test/$name.sh" ;;
		dialyzer) types ;;
		*) module "$name" ;;
		esac
	done
}

# Tests that only compute: with what the others leave of the processors.
computing() { # how many random programs as shipped (0: none), how many sanitized
	renice -n 19 "$BASHPID" >/dev/null
	(($1 == 0)) || run c/bpf_diff "$BUILD/test/c/bpf_diff" "$1"
	programs "$san" 'asan/' "$2"
	fuzzers "${FUZZ_SECONDS:-10}"
}

case ${1:-all} in
all)
	beside second_lane
	beside third_lane
	beside computing 1000000 20000
	elsewhere=("${long[@]}" "${patient[@]}")
	programs "$BUILD" '' 0
	run example tools/check-example.sh "$BUILD/example"
	scripts
	erlang
	gather
	;;
asan)
	beside computing 0 200000
	run example tools/check-example.sh "$san/example"
	scripts
	gather
	;;
erlang)
	erlang
	;;
releases)
	for t in test/releases/*.sh; do
		run "$(name_of "$t")" bash "$t"
	done
	;;
tsan)
	for t in "$BUILD"/tsan/test/*/*; do
		[[ -x $t ]] && run "tsan/${t#"$BUILD"/tsan/test/}" "$t"
	done
	;;
nif)
	[[ beam_threads == *${ONLY-}* ]] && ASAN_OPTIONS=allow_user_segv_handler=1 \
		run asan/beam_threads "$BUILD/nifsan/test/beam/beam_threads"
	has_erlang && modules
	;;
fuzz)
	SHOW_FUZZ=1 fuzzers "${FUZZ_SECONDS:-60}"
	;;
esac

((${#skipped[@]} == 0)) || printf 'skipped: %s\n' "${skipped[@]}"
((${#broken[@]} == 0)) || printf 'failed: %s\n%s\n' "${broken[@]}"
echo "$passed passed, $failed failed"
((failed == 0))
