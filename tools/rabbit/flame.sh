#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The flame graph of doc/img: RabbitMQ under a load on loopback, profiled by a user without any
# rights on it but that of its owner. Run as root it becomes nobody, with no capabilities, who then
# starts the server, the load, the command and the browser.
#
#	tools/rabbit/flame.sh [FOLDER]      the picture, flamegraph-rabbit.png, and what cpu.d prints

folder=$(realpath -m "${1:-doc/img}")
if [ "$(id -u)" = 0 ]; then
	scratch=$(mktemp -d)
	chown nobody "$scratch"
	setpriv --reuid nobody --regid nogroup --clear-groups --inh-caps=-all --bounding-set=-all \
		env -u XDG_RUNTIME_DIR TMPDIR="$scratch" "$0" "$scratch/out"
	code=$?
	if [ $code = 0 ]; then
		mkdir -p "$folder"
		cp "$scratch"/out/*.png "$folder/"
	fi
	rm -rf "$scratch"
	exit $code
fi
# shellcheck source=test/lib/nodelib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../../test/lib/nodelib.sh"
# shellcheck disable=SC2034 # for server.sh
messages=1000000000 bytes=200
# shellcheck source=tools/rabbit/server.sh
. "$root/tools/rabbit/server.sh"
rabbit_begin
server='' loader=''
flame_end() {
	[ -n "$server" ] && kill "$server" 2>/dev/null
	[ -n "$loader" ] && kill -9 "$loader" 2>/dev/null
	nodes_end
}
trap flame_end EXIT

# shellcheck disable=SC2154 # paths, port: server.sh
erl -noshell -pa "$tmp" "${paths[@]}" -run rabbit_load main "$port" $messages $bytes 2 2 \
	>load.out 2>&1 </dev/null &
loader=$!
disown
for ((i = 0; i < 400; i++)); do # it sends
	erltrace -N "$rabbit" -Zqn 'erlang*:rabbit_channel:handle_cast/2:function-entry { exit(0); } tick-1s { exit(1); }' \
		>/dev/null 2>&1 && break
done
erltrace -N "$rabbit" -qs "$root/scripts/cpu.d" 20 12 || exit 1
erltrace web --port 0 -N "$rabbit" --pages "$root/web/dist" --scripts "$root/scripts" \
	>url 2>server.log </dev/null &
server=$!
disown
holds url '#token=' || exit 1
umask 022
CHROMIUM=${CHROMIUM:-$(command -v chromium)} PAGE_URL=$(cat url) \
	node "$root/web/test/browser/shots.js" "$folder" rabbit
