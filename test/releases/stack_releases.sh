#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Stacks at probes of the kernel in VMs of other releases of OTP, some without symbols, and in some of
# 10,000 modules: those that tools/test-otp.sh keeps (OTP_ROOTS). The VM runs there, the command here.
# The last line is "N passed, N failed".

here=$(cd "$(dirname "$0")/../kernel" && pwd)
roots=${OTP_ROOTS:-/var/tmp/erltrace-otp}
passed=0 failed=0
for root in "$roots"/*; do
	[ -x "$root/usr/bin/erl" ] || continue
	for test in "${BUILD:-$here/../../build}/test/kernel/vm_tables_test" "$here/stack.sh" "$here/stack_shapes.sh" \
		"$here/rescue.sh"; do
		said=$(VM_ROOT=$root "$test" 2>&1)
		last=$(tail -1 <<<"$said")
		grep -E '^(FAILED|skipped|  )' <<<"$said" | sed "s,^,$(basename "$root"): ,"
		passed=$((passed + ${last%% passed*})) last=${last#*, }
		failed=$((failed + ${last%% failed*}))
	done
done
((passed + failed > 0)) || echo "skipped: other releases of OTP: there are none in $roots"
echo "$passed passed, $failed failed"
((failed == 0))
