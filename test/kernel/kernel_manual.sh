#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The commands of doc/ that have probes of the kernel, on a node that runs the demo application.

# shellcheck disable=SC2016 # $target is D's
# shellcheck source=test/lib/nodelib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/nodelib.sh"
# shellcheck source=tools/examples.sh
. "$root/tools/examples.sh"
nodes_begin 400
erltrace -qn 'syscall::getppid:entry {} BEGIN { exit(0); }' >may 2>&1 || skip "$(head -n 1 may)"
start demo -kernel logger_level none -s demo_app
export PID=${pid[demo]}
cd "$root" || exit 1
examples kernel "$root"
ok 'there are such examples' test "$passed" -ge 5
cd "$tmp" || exit 1

finish
