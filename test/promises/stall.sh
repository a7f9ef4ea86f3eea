#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Promise 23: a planted stall of 200 ms, once in ten million events, is in one snapshot, with its cause
# and every event of the ten seconds before it (test/node/snapshot.sh, with more steps and larger buffers:
# 100,000 events a second take 3 MB).

out=$(STEPS=${STEPS:-5000000} BUFSIZE=${BUFSIZE:-64m} BEFORE=${BEFORE:-10} TIME=1800 \
	"$(dirname "$0")/../node/snapshot.sh") || true
echo "$out"
echo "promise 23: $(grep 'before the stall,' <<<"$out"); $(tail -1 <<<"$out")"
grep -q ', 0 failed$' <<<"$out"
