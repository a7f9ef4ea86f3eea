#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The unit tests of the page's own code, web/test/*_test.js; page.sh has it in a browser.

cd "$(dirname "$0")/../../web" || exit 1
if [[ ! -d node_modules ]] || ! command -v npm >/dev/null; then
	echo 'skipped: the page is not built (make page)'
	echo '0 passed, 0 failed'
	exit 0
fi
npm test --silent 2>&1 | awk '{ print } /^(#|ℹ) pass / { p = $3 } /^(#|ℹ) fail / { f = $3 }
	END { printf "%d passed, %d failed\n", p, f == "" ? 1 : f }'
