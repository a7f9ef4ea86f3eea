#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Memory runs out inside a node: each allocation of the library in a handle's life fails in turn.
# There is an error with a text, or it works all the same; the node lives, and nothing is left in
# it. The last line is "N passed, N failed".
set -u
root=$(cd "$(dirname "$0")/../.." && pwd)
ebin=$(cd "$root" && cd "${EBIN:-ebin}" && pwd)
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

if ! ${CC:-cc} -O1 -shared -fPIC -o "$tmp/fail_alloc.so" "$root/test/preload/fail_alloc.c" -ldl ||
	! (cd "$tmp" && erlc "$root/test/node/alloc_life.erl"); then
	echo "0 passed, 1 failed"
	exit 1
fi
case ${LD_PRELOAD-} in
*asan*) # it has its own allocator
	echo "0 passed, 0 failed"
	exit 0
	;;
esac
truncate -s 4096 "$tmp/control"
cd "$tmp" || exit 1
FAIL_ALLOC=$tmp/control LD_PRELOAD=$tmp/fail_alloc.so timeout 150 \
	"${ERL:-erl}" -noinput -pa "$ebin" "$tmp" \
	-eval "alloc_life:main([\"$tmp/control\"])" >out 2>&1
rc=$?
cat out
if [ $rc -ne 0 ]; then
	echo "the node ended with $rc"
	echo "0 passed, 1 failed"
	exit 1
fi
