#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Every error has a tag, a place and a hint: each tag of the tables is in the manual with its meaning,
# and has a golden test of its name; golden tests of errors and of the command hold their texts, places
# and exit codes. The last line is "N passed, N failed".
set -u
cd "$(dirname "$0")/../.." || exit 1
passed=0 failed=0
# Nothing here can raise these: no -G, one data model, processes are traced by the kernel's probes.
none=' D_ASRELO D_OBSOLETE1 D_SYM_MODEL D_IDENT_AMBIG D_ARGS_TYPE D_ARGS_XLATOR D_TYPE_ERR D_VERIFY '
tags=0 tested=0
for t in $(sed -n 's/^ERROR_\(TAG\|LASTS\)(\([A-Z0-9_]*\),.*/\2/p' c_src/errors.def); do
	tags=$((tags + 1))
	if [ -e "test/golden/error/$t.t" ]; then
		tested=$((tested + 1))
	elif [[ $none != *" $t "* && $t != D_PROC_* && $t != ET_* ]]; then
		echo "FAILED no golden test of $t"
		failed=$((failed + 1))
		continue
	fi
	if grep -q "$t" man/erltrace.1 || grep -q "${t//_/\\\\_}" man/erltrace.1; then
		passed=$((passed + 1))
	else
		echo "FAILED $t is not in the manual"
		failed=$((failed + 1))
	fi
done
out=$(test/golden.sh test/golden/error test/golden/cli test/golden/fault test/golden/message 2>&1)
tail -n 20 <<<"$out"
[[ $(tail -n 1 <<<"$out") =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]] || failed=$((failed + 1))
passed=$((passed + ${BASH_REMATCH[1]:-0})) failed=$((failed + ${BASH_REMATCH[2]:-0}))
echo "promise 15: $tags tags in the manual, $tested with a golden test of that name; ${BASH_REMATCH[1]:-0} commands that fail, texts, places and exit codes as written"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
