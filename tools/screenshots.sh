#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The pictures of doc/img: a node with the demo application, the live page on it, in chromium.
#
#	tools/screenshots.sh [FOLDER [heatmap|list|error|flame]]

folder=$(realpath -m "${1:-doc/img}")
# shellcheck source=test/nodelib.sh
. "$(dirname "$0")/../test/nodelib.sh"
nodes_begin 300
server=''
shots_end() {
	[ -n "$server" ] && kill "$server" 2>/dev/null
	nodes_end
}
trap shots_end EXIT

start shop -s demo_app
erltrace web --port 0 -N shop --pages "$root/web/dist" --scripts "$root/scripts" \
	>url 2>server.log </dev/null &
server=$!
disown
holds url '#token=' || exit 1
umask 022
PAGE_URL=$(cat url) node "$root/web/test/browser/shots.js" "$folder" "${2-}"
