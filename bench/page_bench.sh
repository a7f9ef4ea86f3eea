#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The live page measured: script time of a frame, first paint, size, memory, the server's time.
# A node with the demo application, the server, chromium; where npm or chromium is missing, nothing.

rows=$(realpath -m "${BENCH_ROWS:-/dev/null}")
# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../test/lib/nodelib.sh"
for need in node npm "${CHROMIUM:=chromium}"; do
	if ! command -v "$need" >/dev/null; then
		echo "page: not measured: no $need here"
		rm -rf "$tmp"
		exit 0
	fi
done
CHROMIUM=$(command -v "$CHROMIUM")
export CHROMIUM
nodes_begin 600
server=''
bench_end() {
	[ -n "$server" ] && kill "$server" 2>/dev/null
	nodes_end
}
trap bench_end EXIT

start page_bench -s demo_app
erltrace web --port 0 -N page_bench --pages "$root/web/dist" >url 2>server.log </dev/null &
server=$!
disown
holds url '#token=' || exit 1
export BENCH_ROWS=$rows
SERVER=$server PAGE_URL=$(cat url) node "$root/web/test/browser/measure.js"
