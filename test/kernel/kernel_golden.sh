#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The golden tests of the language once more, with BEGIN and END firing in the kernel: both engines
# give the same. What differs is marked in the tests, with the reason (test/golden.sh), and listed
# in doc/kernel.md. The last line is "N passed, N failed".
#
#	test/kernel/kernel_golden.sh [all]     all: every folder of the language, which takes minutes

set -u
cd "$(dirname "$0")/../.." || exit 1
bin=${BUILD:-build}/test/bin
if ! "${BIN:-bin}/erltrace" -ln syscall::read:entry >/dev/null 2>&1 || [[ ! -x $bin/erltrace ]]; then
	echo 'skipped: built without the kernel engine (no clang, or KERNEL=)'
	echo '0 passed, 0 failed'
	exit 0
fi
why=$("$bin/erltrace" -qn 'BEGIN { exit(0); }' 2>&1 >/dev/null) || {
	echo "skipped: no probes of the kernel here: $why"
	echo '0 passed, 0 failed'
	exit 0
}
folders=(fault spec sub var)
[[ ${1-} == all ]] && folders+=(action agg json layout op option printa printf probe stmt stmt_output type xlate)
# the verifier takes seconds for some, and longer on a machine that is busy
GOLDEN_SECONDS=120 IN_KERNEL=1 BIN=$bin test/golden.sh "${folders[@]/#/test/golden/}"
