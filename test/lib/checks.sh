# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# What the tests in bash share: sourced, not run. After it: $root, the command in the path, a
# scratch folder $tmp (the test removes it). finish() ends a test.
#
#	ok, is, like, has, hasnt         one test each
#	holds FILE REGEX                 waits until a file holds a text
#	gone PID                         has it ended?
#	insist SIGNAL PID                signals it until it has ended, as one who is impatient does
#	... | words                      in one line
#	on_terminal 'COMMAND'            its output, on a terminal
#	preloaded NAME COMMAND...        with test/preload/NAME.c loaded before everything else

set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
PATH=$(cd "$root" && cd "${BIN:-bin}" && pwd):$PATH
tmp=$(mktemp -d)
passed=0 failed=0

ok() { # name, then a command that must succeed
	local name=$1
	shift
	if "$@"; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		echo "FAILED $name: $*"
	fi
}

is() { # name, wanted, got
	if [ "$2" = "$3" ]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'FAILED %s\n  wanted: %s\n  got:    %s\n' "$1" "$2" "$3"
	fi
}

like() { # name, an extended regular expression, what must match it
	if [[ $3 =~ $2 ]]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'FAILED %s: no match of %s in\n  %s\n' "$1" "$2" "${3:0:300}"
	fi
}

has() { # name, an extended regular expression that a line of o must match
	if grep -qE -- "$2" o; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'FAILED %s: no line like %s\n' "$1" "$2"
		head -n 60 o e 2>/dev/null | sed 's/^/    /'
	fi
}

hasnt() { # name, an extended regular expression that no line of o may match
	if grep -E -m 5 -- "$2" o; then
		failed=$((failed + 1))
		printf 'FAILED %s: lines like %s\n' "$1" "$2"
	else
		passed=$((passed + 1))
	fi
}

finish() {
	echo "$passed passed, $failed failed"
	[ "$failed" -eq 0 ]
	exit
}

# Waits until a file holds a text, a minute at most.
holds() { # file, extended regular expression
	local end=$((SECONDS + 60))
	while ((SECONDS < end)); do
		grep -qE -- "$2" "$1" 2>/dev/null && return 0
		sleep 0.025
	done
	echo "$1 holds:"
	cut -c 1-500 "$1" | tail -n 100
	return 1
}

gone() { ! kill -0 "$1" 2>/dev/null; }

# A child of ours that has ended is there until it is waited for: as a zombie. 20 s at most.
insist() { # signal, pid
	local i
	for ((i = 0; i < 800 && $(ps -o stat= -p "$2" | grep -vc Z) == 1; i++)); do
		kill "-$1" "$2" 2>/dev/null
		sleep 0.025
	done
}

words() { tr -s ' \n\t' ' ' | sed 's/^ //; s/ $//'; } # its input in one line

on_terminal() { # a shell command; its output on a terminal, without carriage returns
	script -qec "$1" /dev/null </dev/null | tr -d '\r'
}

preloaded() { # name, command...
	local name=$1
	shift
	[ -e "$tmp/$name.so" ] ||
		${CC:-cc} -O1 -shared -fPIC -o "$tmp/$name.so" "$root/test/preload/$name.c" -ldl || return
	LD_PRELOAD=$tmp/$name.so "$@"
}
