#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The golden tests: commands and what they must print.
#
#	test/golden.sh [FILE.t | FOLDER] ...     default: test/golden
#
# A test file is made of lines with a mark in front:
#
#	# text     a comment; say what the next commands show
#	< name     a file for the commands below, made of the lines that follow:
#	| text     a line of that file ("|" alone: an empty one)
#	$ command  run by bash, in a scratch folder of the file's own, with erltrace in PATH; the
#	           tree is in $TREE
#	> line     the next line of its stdout, exactly (">" alone: an empty one)
#	~ regex    the same, as an extended regular expression that the line must contain
#	! line     the next line of its stderr, exactly ("!" alone: an empty one)
#	!~ regex   the same, as a regular expression
#	? code     its exit code; 0 where not given
#
# IN_KERNEL=1: erltrace is the one whose BEGIN and END fire in the kernel (build/test/bin). Commands
# below a comment "# not in the kernel: why", up to an empty line, are then left out.
#
# Empty lines separate. What is not expected must not come: a command without ">" lines prints
# nothing, one without "!" lines says nothing. stdin is empty, the time zone UTC, the locale C.
# Each command is a test; it may take a minute. The last line is "N passed, N failed".
#
# BIN=folder names where erltrace is (default: bin), JOBS=n how many files run at once.
# GOLDEN_SECONDS=n: another time than a minute.

set -u
shopt -s nullglob globstar

root=$(cd "$(dirname "$0")/.." && pwd)

# ---- one file ------------------------------------------------------------------------------

# Expected lines against actual ones; sets same=0 and fills shown with the expected text, where
# a regular expression that matches stands as the line it matched, for the diff.
compare() { # $1: name of the array of expected marks+lines, $2: of the actual lines
	local -n want=$1 got=$2
	local i regex

	shown=()
	for ((i = 0; i < ${#want[@]}; i++)); do
		if [[ ${want[i]} == "~"* ]]; then
			regex=${want[i]:1}
			if ((i < ${#got[@]})) && [[ ${got[i]} =~ $regex ]]; then
				shown+=("${got[i]}")
			else
				shown+=("~ $regex")
				same=0
			fi
		else
			shown+=("${want[i]:1}")
			if ((i >= ${#got[@]})) || [[ ${want[i]:1} != "${got[i]}" ]]; then
				same=0
			fi
		fi
	done
	((${#want[@]} == ${#got[@]})) || same=0
}

# Reports what differed, as a diff.
differ() { # $1: what, $2: actual lines' array; expected in shown
	local -n lines=$2

	diff -u --label "expected $1" --label "actual $1" \
		<(((${#shown[@]})) && printf '%s\n' "${shown[@]}") \
		<(((${#lines[@]})) && printf '%s\n' "${lines[@]}") | cat -v
}

finish_command() {
	local status same=1 shown

	[[ -n $command ]] || return 0
	if [[ -n $left_out && -n ${IN_KERNEL-} ]]; then
		command=
		want_out=() want_err=() want_status=0
		return 0
	fi
	(cd "$dir" && exec timeout -k 5 "${GOLDEN_SECONDS:-60}" bash -c "$command") \
		>"$dir.out" 2>"$dir.err" </dev/null
	status=$?
	mapfile -t out <"$dir.out"
	mapfile -t err <"$dir.err"
	compare want_out out
	compare want_err err
	if ((same && status == want_status)); then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf '\nFAILED %s:%d\n$ %s\n' "$file" "$at" "$command"
		compare want_out out
		differ stdout out
		compare want_err err
		differ stderr err
		((status == want_status)) ||
			printf 'exit code %d, expected %d\n' "$status" "$want_status"
	fi
	command=
	want_out=() want_err=() want_status=0
}

run_file() {
	local file=$1 dir line n=0 at=0 here='' command='' left_out='' want_status=0 passed=0 failed=0
	local -a want_out=() want_err=() out err

	dir=$(mktemp -d "$scratch/XXXXXX")
	while IFS= read -r line || [[ -n $line ]]; do
		n=$((n + 1))
		case $line in
		'$ '*) finish_command; command=${line:2} at=$n ;;
		'> '*) want_out+=("=${line:2}") ;;
		'>') want_out+=("=") ;;
		'~ '*) want_out+=("~${line:2}") ;;
		'! '*) want_err+=("=${line:2}") ;;
		'!') want_err+=("=") ;;
		'!~ '*) want_err+=("~${line:3}") ;;
		'? '*) want_status=${line:2} ;;
		'< '*) finish_command; here=$dir/${line:2}; mkdir -p "${here%/*}"; : >"$here" ;;
		'| '*) printf '%s\n' "${line:2}" >>"$here" ;;
		'|') printf '\n' >>"$here" ;;
		'# not in the kernel: '*) finish_command; left_out=1 ;;
		'#'*) finish_command ;;
		'') finish_command; left_out='' ;;
		*)
			finish_command
			printf '\nFAILED %s:%d: what is this line?\n%s\n' "$file" "$n" "$line"
			failed=$((failed + 1))
			;;
		esac
	done <"$file"
	finish_command
	rm -rf "$dir" "$dir.out" "$dir.err"
	printf '%d %d\n' "$passed" "$failed" >>"$scratch/counts"
}

# ---- all files -----------------------------------------------------------------------------

if [[ ${1-} == --file ]]; then # run_file in a process of its own; see below
	scratch=$2
	shift 2
	for f in "$@"; do
		run_file "$f" >"$scratch/report.$$"
		cat "$scratch/report.$$" # in one piece, not mixed with another file's
	done
	exit 0
fi

BIN=${BIN:-$root/bin}
PATH=$(cd "$BIN" && pwd):$PATH
export PATH TREE=$root TZ=UTC LC_ALL=C TERM=dumb
for v in "${!DTRACE_OPT_@}"; do
	unset "$v"
done

files=()
for f in "${@:-$root/test/golden}"; do
	if [[ -d $f ]]; then
		files+=("$f"/**/*.t)
	else
		files+=("$f")
	fi
done

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
: >"$scratch/counts"
((${#files[@]})) && printf '%s\0' "${files[@]#"$PWD"/}" |
	xargs -0 -n 4 -P "${JOBS:-2}" "$0" --file "$scratch"

awk '{ p += $1; f += $2 } END { printf "%d passed, %d failed\n", p, f; exit f > 0 }' \
	"$scratch/counts"
