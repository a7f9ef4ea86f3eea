#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# A node whose dirty I/O schedulers are all taken, by processes that open a FIFO that nobody writes
# to, as with a hung network file system: the command attaches, as nothing that it does there needs a
# file or the code server, nor does net_kernel need crypto, which is not loaded, to accept it (what it
# does need is there, as in a node of a cluster). Without that it took 60 s, and then 'does not answer
# lists:zipwith3'.

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
nodes_begin 300 bare
epmd_begin
start blocked
hello='BEGIN { printf("hello\n"); exit(0); }'
mkfifo hung
at blocked 'code:ensure_modules_loaded([dist_util]).' >/dev/null
is 'crypto is not loaded' false "$(at blocked 'code:is_loaded(crypto).')"
at blocked "[spawn(fun() -> file:open(\"$tmp/hung\", [read, raw]) end) || _ <- lists:seq(1, 2 * erlang:system_info(dirty_io_schedulers))], ok." >/dev/null
becomes 'all are taken' true blocked 'lists:last(statistics(active_tasks_all)) >= 2 * erlang:system_info(dirty_io_schedulers).'
is 'dirty I/O taken' hello "$(timeout -s KILL 60 erltrace -N blocked -qn "$hello" 2>&1 | head -n 1)"
finish
