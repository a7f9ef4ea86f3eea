#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The example program of the manual does what the manual says it prints.
#
#	tools/check-example.sh PROGRAM

set -u

want=$(sed -n '/^\.\\" OUTPUT BEGIN/,/^\.\\" OUTPUT END/ { /^\./d; s/\\-/-/g; s/\\e/\\/g; p }' \
	man/liberltrace.3)
got=$("$1" 2>&1)
status=$?
if [[ $got == "$want" && $status == 0 && -n $want ]]; then
	echo "1 passed, 0 failed"
else
	diff <(echo "$want") <(echo "$got")
	echo "exit code $status"
	echo "0 passed, 1 failed"
	exit 1
fi
