#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Arithmetic, conversions, variables and memory of D against C's (against_c.py): programs made
# at random, the same ones each time. The last line is "N passed, N failed".

set -u
cd "$(dirname "$0")/../.." || exit 1
command -v python3 >/dev/null || {
	echo 'skipped: no python3 here'
	echo '0 passed, 0 failed'
	exit 0
}
exec python3 test/model/against_c.py --count 12
