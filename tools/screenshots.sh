#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The pictures of doc/img: a node with the demo application, the live page on it, in chromium.
#
#	tools/screenshots.sh [FOLDER [heatmap|list|error|flame|flow]]

folder=$(realpath -m "${1:-doc/img}")
# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../test/lib/nodelib.sh"
nodes_begin 300
server=''
shots_end() {
	[ -n "$server" ] && kill "$server" 2>/dev/null
	nodes_end
}
trap shots_end EXIT

start shop -s demo_app
# Who sorts, for the heat map: one the same all the time, one more and more and then less, one much
# and now and then.
sorts='Many = [rand:uniform() || _ <- lists:seq(1, 20000)],
	Sorts = fun(Name, Ms, Size) ->
		register(Name, spawn(fun L() ->
			N = round(Size(erlang:system_time(millisecond) / 1000) * (0.75 + rand:uniform() / 2)),
			_ = [lists:sort(lists:sublist(Many, N)) || N > 0],
			timer:sleep(Ms), L() end)) end,
	Sorts(prices, 10, fun(_) -> 120 end),
	Sorts(orders, 2, fun(T) -> 900 * math:exp(1.2 * math:sin(T / 4)) end),
	Sorts(report, 40, fun(T) -> case math:fmod(T, 17) < 4 of true -> 12000; false -> 0 end end), ok.'
at shop "${sorts//[$'\n\t']/ }" >/dev/null
erltrace web --port 0 -N shop --pages "$root/web/dist" --scripts "$root/scripts" \
	>url 2>server.log </dev/null &
server=$!
disown
holds url '#token=' || exit 1
umask 022
PAGE_URL=$(cat url) node "$root/web/test/browser/shots.js" "$folder" "${2-}"
