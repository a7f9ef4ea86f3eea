#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# All scripts of erltrace web share the files that a process may open: where that are few by default, and
# more may be had, as many scripts run at once as a user may run. The last line is "N passed, N failed".

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
# shellcheck source=test/lib/weblib.sh
. "$root/test/lib/weblib.sh"
web_begin 200

start web_demo
soft=$(ulimit -Sn)
ulimit -Sn 32
serve few
ulimit -Sn "$soft"
login
wsopen a
for k in 1 2 3 4 5 6 7 8; do
	run a "$k" 'tick-10ms { @ = count(); }'
	ok "script $k runs" holds a.ws "\"id\":$k,\"line\":\{\"type\":\"tick\""
done
hasnt_end() { ! grep -q '"type":"end"' a.ws; }
ok 'none has ended' hasnt_end
wsclose a
finish
