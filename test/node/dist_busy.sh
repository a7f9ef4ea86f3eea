#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# A node that has stopped, and processes that send to it until the connection is busy: they are
# suspended, before the script begins and while it runs. The scripts of the library show them, and
# what waits to be sent.

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
nodes_begin 300
lib=$root/scripts
start busy
start stopped
trap 'kill -CONT "${pid[stopped]}" 2>/dev/null; nodes_end' EXIT
peer=$(at stopped 'node().')
at busy "net_adm:ping($peer)." >/dev/null
kill -STOP "${pid[stopped]}"

# A process that sends for ever, until it is suspended.
sends() { # name
	at busy "spawn(fun() -> register($1, self()), (fun F() -> {nobody, $peer} ! <<0:800000>>, F() end)() end), ok." >/dev/null
	becomes "$1 is suspended" '{status,suspended}' busy "P = whereis($1), is_pid(P) andalso process_info(P, status)."
}
sends busy_sender
at busy "spawn(fun() -> register(busy_caller, self()), gen_server:call({nobody, $peer}, x, infinity) end), ok." >/dev/null
becomes 'busy_caller is suspended' '{status,suspended}' busy 'P = whereis(busy_caller), is_pid(P) andalso process_info(P, status).'

# dist.d: those of before, one of after, and the connection; all are looked at twice.
trace busy -qs "$lib/dist.d" -n 'state:::round-1s /arg3/ { printf("look %d\n", ++rounds); }'
sends busy_later
seen=$(grep -c '^look' o)
ok 'looks' holds o "^look $((seen + 3))\$"
untrace
is 'dist: exit' 0 "$status"
has 'dist: what waits to be sent, for how long' "^$peer +[1-9][0-9]{4,} +[1-9][0-9]{2,}\$"
has 'dist: a sender of before, for how long' '^busy_sender +[^ ]+:[^ ]+/[0-9]+ +[1-9][0-9]{2,}$'
has 'dist: a caller of before' '^busy_caller +gen:do_call/4 +[1-9][0-9]{2,}$'
has 'dist: one that came later' '^busy_later +[^ ]+:[^ ]+/[0-9]+ +[0-9]+$'
has 'dist: the event of that one' "^$peer +<[0-9.]+> +[1-9][0-9]*\$"
hasnt 'dist: nothing is said of looks' '^no look'

erltrace -N busy -qs "$lib/sysmon.d" for=2s >o 2>e
has 'sysmon: suspended already' '^suspended already +busy_sender +0 +0 [^ ]+:[^ ]+/[0-9]+$'
has 'sysmon: busy already' "^connection busy already +$peer +0 +0 [1-9][0-9]* bytes wait\$"

erltrace -N busy -qs "$lib/waits.d" for=2s >o 2>e
has 'waits: a call that cannot be sent' "^ +1 +[0-9]+ +0 busy_caller -> \\{nobody,$peer\\} \\(cannot send: connection busy\\)\$"

# The node goes on: nobody is suspended any more but who is again, and the call fails.
kill -CONT "${pid[stopped]}"
becomes 'the caller goes on' 'undefined' busy 'whereis(busy_caller).'
finish
