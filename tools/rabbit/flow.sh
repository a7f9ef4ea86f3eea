#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# A message through RabbitMQ, from the reader of a connection that has got a publish to the writer that
# delivers it: as a tree, and as the waterfall of doc/img.
#
#	tools/rabbit/flow.sh [FOLDER]      the picture, flow-rabbit.png, and what --follow prints

folder=$(realpath -m "${1:-doc/img}")
# shellcheck source=test/lib/nodelib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../test/lib/nodelib.sh"
# shellcheck disable=SC2034 # for server.sh
messages=1000000 bytes=200
# shellcheck source=tools/rabbit/server.sh
. "$root/tools/rabbit/server.sh"
rabbit_begin
server='' loader=''
flow_end() {
	[ -n "$server" ] && kill "$server" 2>/dev/null
	[ -n "$loader" ] && kill -9 "$loader" 2>/dev/null
	nodes_end
}
trap flow_end EXIT

# Fifty messages a second; it goes on while its standard input is open.
mkfifo words
exec 9<>words
# shellcheck disable=SC2154 # paths, port: server.sh
erl -noshell -pa "$tmp" "${paths[@]}" -run rabbit_load main "$port" $messages $bytes 1 1 50 \
	>load.out 2>&1 <words &
loader=$!
disown
for ((i = 0; i < 400; i++)); do # it sends
	erltrace -N "$rabbit" -Zqn 'erlang*:rabbit_channel:do_flow/3:function-entry { exit(0); } tick-1s { exit(1); }' \
		>/dev/null 2>&1 && break
done
erltrace -N "$rabbit" --follow rabbit_channel:do_flow/3 -x flowtime=500ms -n 'tick-3s { exit(0); }' || exit 1
erltrace web --port 0 -N "$rabbit" --pages "$root/web/dist" --scripts "$root/scripts" \
	>url 2>server.log </dev/null &
server=$!
disown
holds url '#token=' || exit 1
umask 022
CHROMIUM=${CHROMIUM:-$(command -v chromium)} PAGE_URL=$(cat url) \
	node "$root/web/test/browser/shots.js" "$folder" rabbitflow
