#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The examples of README.md and erltrace(1) that trace a node, on the demo application.

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/nodelib.sh"
# shellcheck source=tools/examples.sh
. "$root/tools/examples.sh"
nodes_begin 400
start demo -kernel logger_level none -s demo_app
cd "$root" || exit 1
examples nodes "$root"
ok 'there are such examples' test "$passed" -ge 5
cd "$tmp" || exit 1

finish
