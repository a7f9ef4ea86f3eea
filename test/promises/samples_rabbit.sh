#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Promise 18, the soak: RabbitMQ under load while profile-97 samples it, for so long (90, 10m, 1h).
# Loads with and without samples take turns: no message may be lost, none of the samples dropped, no
# system call may fail with EINTR for the server, and the server's CPU time for a message stays as it
# was, but for what its loads differ anyway.
#
#	test/promises/samples_rabbit.sh 1h

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/nodelib.sh"
messages=${MESSAGES:-20000} bytes=${BYTES:-200}
# shellcheck source=tools/rabbit/server.sh
. "$root/tools/rabbit/server.sh"
for_s=${1:-60}
case $for_s in *m) for_s=$((${for_s%m} * 60)) ;; *h) for_s=$((${for_s%h} * 3600)) ;; *s) for_s=${for_s%s} ;; esac
rabbit_begin
kill "$watchdog" 2>/dev/null # it may take longer than a test does

load # warms up
with=0 without=0 n=0 lost=0 samples=0
until=$((SECONDS + for_s))
while ((SECONDS < until || n == 0)); do
	load
	grep -qF "$whole" <<<"$line" || lost=$((lost + 1))
	without=$((without + us))
	trace $rabbit -qn 'profile-97 { @[erlstate, ustack()] = count(); @samples = count(); }' || break
	load
	grep -qF "$whole" <<<"$line" || lost=$((lost + 1))
	with=$((with + us))
	untrace
	((status == 0)) || is 'the command ends well' 0 "$status"
	samples=$((samples + $(awk 'NF == 1 && /^ +[0-9]+$/ { n = $1 } END { print n + 0 }' o)))
	[ -s e ] && { echo "FAILED: it says"; head -n 5 e; failed=$((failed + 1)); }
	n=$((n + 1))
done
is 'no message is lost' 0 "$lost"
is 'no EINTR in the log of the server' 0 "$(cat log/* server.log | grep -ciE 'eintr|interrupted system call')"
ok 'samples came' [ "$samples" -gt 0 ]
echo "promise 18: RabbitMQ, $n loads of $messages messages each way: $((without / n)) us of CPU time for a message, $((with / n)) us while it was sampled at 97 Hz; $samples samples, none dropped; no message lost; no EINTR"
finish
