#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Scripts made at random (random_d.py) in nodes that load, upgrade and purge code, crash and hibernate
# (random_load.erl), for $1 seconds: make test-random SECONDS=3600. The last line is "N passed, N failed".
# SEED=N begins with another script, SEEDS="7 12" runs these. What fails is kept in build/random/SEED.txt.

command -v python3 >/dev/null || {
	echo 'skipped: no python3 here'
	echo '0 passed, 0 failed'
	exit 0
}
seconds=${1:-20}
# shellcheck source=test/lib/nodelib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/nodelib.sh"
build=$(cd "$root" && cd "${BUILD:-build}" && pwd)
nodes_begin $((seconds + 600))
for v in a b; do # two versions
	mkdir -p "code/$v"
	sed "s/^version() -> .*/version() -> $v./" "$root/test/random/random_code.erl" >random_code.erl
	erlc +debug_info -o "code/$v" random_code.erl || exit 1
done
cp code/a/random_code.beam code/
erlc +debug_info -Werror -o code "$root/test/random/random_load.erl" || exit 1
export CODE=$tmp/code KEEP=$build/random SECONDS_TO_RUN=$seconds ERLTRACE
ERLTRACE=$(command -v erltrace)
if [ -z "${PLAIN:-}" ] && [ -e "$build/nifsan/priv/erltrace.so" ] && [ -x "$build/san/bin/erltrace" ]; then
	mkdir -p "$build/nifsan/ebin" && cp "$ebin"/* "$build/nifsan/ebin/"
	export SAN_EBIN=$build/nifsan/ebin SAN_ERLTRACE=$build/san/bin/erltrace PRELOAD
	PRELOAD=$("${CLANG:-clang}" -print-file-name=libclang_rt.asan-x86_64.so)
	export NODE_ASAN=detect_leaks=0:handle_segv=0:handle_sigbus=0:allow_user_segv_handler=1:use_sigaltstack=0:abort_on_error=1
	export COMMAND_ASAN=detect_leaks=1:allow_user_segv_handler=1:abort_on_error=1
fi
python3 "$root/test/random/random_run.py"
