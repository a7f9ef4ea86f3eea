#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Shows what users may rely on: runs what test/promises/promises.tab names for each of the promises,
# and writes doc/promises.md from it. A test prints its figures as lines "promise N: TEXT" and ends
# well or not; a promise is kept if all of its tests ended well. Called by make, which sets BUILD,
# BIN, EBIN and has built what is run.
#
#	tools/promises.sh            all of them; ONLY="3 12": some, the others as they were;
#	                             TESTS="keys dbg": some of their tests
#	tools/promises.sh soak 4h    the long ones, of promises 12, 17, 18 and 24; ONLY=17: one of them
#	tools/promises.sh table      only the table, from what was run last
#
# What was run last is kept in $BUILD/promises: a file NUMBER.NAME for each test, with its output and
# a last line "= STATUS SECONDS DATE".

set -u
cd "$(dirname "$0")/.." || exit 1
export BUILD=${BUILD:-build} BIN=${BIN:-bin} LIB=${LIB:-lib} EBIN=${EBIN:-ebin}
tab=test/promises/promises.tab
kept=$BUILD/promises
doc=${DOC:-doc/promises.md}
mkdir -p "$kept"
only=${ONLY-} some=${TESTS-}
unset ONLY TESTS # tests have a use of their own for such names

# ---- what the table's commands are made of ------------------------------------------------------

vm() { # a function of test/promises/promise.erl
	"${ERL:-erl}" -noshell -pa "$EBIN" "$BUILD/erl" -run promise main "$1"
}
eunit() { # modules of test/erl/*_tests.erl, or others that tools/erl_run.erl knows
	local m status=0
	for m; do
		"${ERL:-erl}" +pc unicode -noshell -pa "$(realpath "$EBIN")" "$(realpath "$BUILD/erl")" \
			-s erl_run main "$m" "$BUILD/log" || status=1
	done
	return $status
}
fuzz() { # seconds; how many inputs each target took is the figure
	FUZZ_SECONDS=$1 tools/run-tests.sh fuzz | tee "$kept/fuzz.out"
	awk '/^fuzz_/ { name = $1; good = / 0 failed/ } /number_of_executed_units/ {
		printf "promise %d: %s: %d inputs%s\n", name == "fuzz_bpf" ? 1 : 13, name, $2,
			good ? ", no fault" : " and a FAULT" }' \
		"$kept/fuzz.out"
	tail -n 1 "$kept/fuzz.out" | grep -q ' 0 failed$'
}
quick() { # the same, before all other programs: for what rests as long as it works
	local rt=
	chrt -f 1 true 2>/dev/null && rt='chrt -f 1'
	$rt "${ERL:-erl}" -noshell -pa "$EBIN" "$BUILD/erl" -run promise main "$1"
}
seconds() { # 90, 10m, 4h
	local s=${1%[smh]}
	case $1 in *m) s=$((s * 60)) ;; *h) s=$((s * 3600)) ;; esac
	echo "$s"
}
soak() { # for how long
	"${ERL:-erl}" +P 32768 -noshell -pa "$EBIN" "$BUILD/erl" -run soak main "$(seconds "$1")" 100000
}
calls() { # of test/promises/calls_promise.erl: mix (PROMISE_CALLS: how many), or soak and for how long
	"${ERL:-erl}" -noshell -pa "$EBIN" "$BUILD/erl" -run calls_promise main "$1" \
		${2:+"$(seconds "$2")"}
}
samples() { # of test/promises/samples_promise.erl: right, cost, often
	"${ERL:-erl}" -noshell -pa "$EBIN" "$BUILD/erl" -run samples_promise main "$1"
}
export -f vm eunit fuzz quick seconds soak calls samples
export kept

# ---- running ------------------------------------------------------------------------------------

one() { # number, name, command
	local out=$kept/$1.$2 began=$SECONDS status=green code
	timeout -k 10 "${LIMIT:-900}" bash -c "$3" >"$out" 2>&1 </dev/null
	code=$?
	grep -qE '^[0-9]+ passed, [0-9]*[1-9][0-9]* failed$' "$out" && code=1
	((code == 0)) || status=red
	((code == 0)) && grep -q '^skipped: ' "$out" && ! grep -qE "promise $1: " "$out" && status=skipped
	echo "= $status $((SECONDS - began)) $(date -u +%Y-%m-%dT%H:%MZ)" >>"$out"
	printf '%2d %-28s %-7s %4d s  %s\n' "$1" "$2" "$status" $((SECONDS - began)) \
		"$(figures "$1" "$out" | head -n 1)"
	[[ $status == red ]] && tail -n 30 "$out" | sed 's/^/        /'
}

figures() { # number, file
	grep -aoE "promise $1: .*" "$2" | sed 's/^promise [0-9]*: //'
	# A test that does not say more says how many checks it made.
	grep -qaE 'promise [0-9]+: ' "$2" ||
		awk '/^[0-9]+ passed, [0-9]+ failed$/ { n += $1 } /^skipped: / { s = $0 }
			END { if (n > 0) printf "%d checks\n", n; else if (s != "") print s }' "$2"
}

# Lines of the table: "N title" begins a promise, "	name: command" is one of its tests.
each() { # function: called with number, name, command
	local line number=0
	while IFS= read -r line; do
		case $line in
		'#'* | '') ;;
		[0-9]*) number=${line%% *} ;;
		*)
			line=${line#"${line%%[![:space:]]*}"}
			"$1" "$number" "${line%%:*}" "${line#*: }"
			;;
		esac
	done <$tab
}

run_one() {
	[[ -z $only || " $only " == *" $1 "* ]] && [[ -z $some || " $some " == *" $2 "* ]] &&
		[[ $2 != soak ]] && one "$@"
}

# ---- the table ----------------------------------------------------------------------------------

cell() { sed -e 's/&/\&amp;/g' -e 's/</\&lt;/g' -e 's/|/\\|/g' "$@"; }

row() { # number, title
	local f name last status=green date='' shown='' figure='' text
	local -a tests=()
	# Nothing of it is kept here: as the table has it.
	compgen -G "$kept/$1.*" >/dev/null || ! grep -s "^| $1 |" "$doc" || return 0
	for f in $(each list | awk -v n="$1" '$1 == n { print $2 }'); do
		name=$f f=$kept/$1.$f
		tests+=("\`$name\`")
		[[ -e $f ]] || { [[ $name == soak ]] || status='not run'; continue; }
		last=$(tail -n 1 "$f")
		[[ $last == '= '* ]] || { status='not run'; continue; } # it was not run to its end
		[[ $last == '= red '* ]] && status=red
		text=$(figures "$1" "$f" | cell | awk '{ printf "%s%s", s, $0; s = "<br>" }')
		figure+="${figure:+<br>}$name: $text"
		[[ ${last##* } > $date ]] && date=${last##* }
	done
	# What tests of other promises say of this one.
	for f in "$kept"/*.*; do
		[[ -e $f ]] || continue
		[[ $f == "$kept/$1."* || $f == *.out ]] && continue
		text=$(grep -aoE "promise $1: .*" "$f" | sed 's/^promise [0-9]*: //' | cell |
			awk '{ printf "%s%s", s, $0; s = "<br>" }')
		[[ -n $text ]] && figure+="${figure:+<br>}${f#"$kept"/*.}: $text"
	done
	shown=$(IFS=,; echo "${tests[*]}")
	echo "| $1 | $2 | ${shown//,/, } | $figure | $status | ${date%T*} |"
}

list() { echo "$1 $2"; }

table() {
	cat <<TEXT
# What users may rely on, shown

Made by \`make promises\` (and \`make soak\`); do not edit. Each test stands in
\`test/promises/promises.tab\` with its command; \`make promises ONLY=3\` shows one promise. A figure is
what was measured on the day in the last column: at the latest of these on this machine, earlier ones
may be another's.

| | |
|---|---|
| machine | $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) CPUs, $(awk '/MemTotal/ { printf "%.0f GB", $2 / 1048576 }' /proc/meminfo) |
| kernel | $(uname -sr) |
| OTP | $("${ERL:-erl}" -noshell -eval 'io:format("~s, erts ~s", [erlang:system_info(otp_release), erlang:system_info(version)]), halt().') |
| erltrace | $(sed -n 's/^.define ERLTRACE_VERSION "\(.*\)"/\1/p' include/erltrace.h) ($(git rev-parse --short HEAD 2>/dev/null || echo 'no repository')) |

| # | promise | shown by | measured | | date |
|---|---|---|---|---|---|
TEXT
	while read -r number title; do
		row "$number" "$title"
	done < <(grep -E '^[0-9]+ ' $tab)
}

case ${1-all} in
all)
	each run_one
	;;
soak)
	LIMIT=$((60 * 60 * 24 * 7))
	soak_one() {
		[[ $2 == soak && (-z $only || " $only " == *" $1 "*) ]] && SOAK=${time:-5m} one "$@"
	}
	time=${2-} each soak_one
	;;
table) ;;
*)
	sed -n '3,15s/^# \{0,1\}//p' "$0"
	exit 2
	;;
esac
table >"$doc.new" && mv "$doc.new" "$doc"
red=$(grep -cE '\| (red|not run) \|' "$doc")
all=$(grep -c "^[0-9]" "$tab")
echo "$doc: $((all - red)) of $all green"
((red == 0))
