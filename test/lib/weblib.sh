# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# For tests of erltrace web: sourced after nodelib.sh, not run. A page and a script that are ours,
# servers and web sockets by name, all ended at the end.
#
#	web_begin SECONDS                a node's things (see nodelib.sh), or the test is skipped
#	serve NAME [options]             a server: $url, $port, $token, ${server[NAME]}
#	login                            $cookie
#	wsopen NAME [headers]            a web socket; what comes is in NAME.ws, the status first
#	wssend NAME TEXT, wsclose NAME
#	run NAME ID SCRIPT [members]     a script on web_demo; returns when it is armed
#	page_nodes [options]             what a server with these says of the nodes

web_begin() {
	nodes_begin "$1"
	erltrace web --help >/dev/null 2>&1 || skip 'erltrace was built without the live page'
	[ -e "$ebin/erltrace_agent.beam" ] || skip 'no library beside the command'
	web_tools
}

has_web_tools() {
	python=$(command -v /usr/bin/python3 python3 | head -n 1)
	[ -n "$python" ] && command -v curl >/dev/null
}
web_tools() {
	has_web_tools || skip 'no python3 or no curl here'
	trap web_end EXIT
	web_pages
}
web_pages() {
	mkdir -p pages scripts
	echo '<meta name="csp-nonce" content=""><script src="/app.js"></script>' >pages/index.html
	echo 'let x = 1;' >pages/app.js
	printf '/*\n * one.d: what it\n * shows.\n *\n * more\n */\nBEGIN { exit(0); }\n' >scripts/one.d
}

declare -A server # their processes
web_end() {
	local p
	for p in "${server[@]}"; do
		kill -9 "$p" 2>/dev/null
	done
	nodes_end
}
serve() { # name, options: sets port, token, url
	local name=$1 i
	shift
	rm -f "$name.url"
	erltrace web --port 0 --pages pages --scripts scripts "$@" >"$name.url" 2>"$name.log" </dev/null &
	server[$name]=$!
	disown
	for ((i = 0; i < 2400; i++)); do
		[ -s "$name.url" ] && break
		gone "${server[$name]}" && break
		sleep 0.025
	done
	url=$(sed 's/#.*//' "$name.url")
	token=$(sed 's/.*#token=//' "$name.url")
	port=$(sed 's|.*:\([0-9]*\)/.*|\1|' "$name.url")
}

code() { curl -sk -o o -D e -w '%{http_code}' "$@"; } # http status; body in o, head in e
login() { # sets cookie
	code --data "$token" "${url}login" >/dev/null
	cookie=$(sed -n 's/^set-cookie: \([^;]*\);.*/\1/pI' e)
}

# A web socket by its name: what comes is in NAME.ws.
declare -A ws wspid
wsopen() { # name, more headers
	local name=$1 fd
	shift
	rm -f "$name.ws" "$name.fifo"
	mkfifo "$name.fifo"
	exec {fd}<>"$name.fifo"
	# The client must not hold the other end itself, or it never sees the end of its input.
	(
		exec {fd}>&-
		exec "$python" "$root/test/web/web_client.py" 127.0.0.1 "$port" \
			"Origin: http://127.0.0.1:$port" \
			"Cookie: $cookie" "$@"
	) <"$name.fifo" >"$name.ws" 2>"$name.err" &
	wspid[$name]=$! ws[$name]=$fd
	disown
	holds "$name.ws" . >/dev/null
}
wssend() { echo "$2" >&"${ws[$1]}"; }
wsclose() { # the tab is closed: the process that has the socket is killed
	local fd=${ws[$1]}
	kill -9 "${wspid[$1]}" 2>/dev/null
	exec {fd}>&-
}
wscode() { head -n 1 "$1.ws"; }
run() { # socket, id, script, more members: returns when it is armed
	wssend "$1" "{\"type\":\"run\",\"id\":$2,\"nodes\":[\"web_demo\"],\"hz\":20,\"script\":\"$3\"${4-}}"
	holds "$1.ws" "\"id\":$2,\"line\":\{\"type\":\"tick\"" >/dev/null
}

# What a server with these options says of the nodes, a line of JSON. Fails where there is no page.
page_nodes() {
	erltrace web --help >/dev/null 2>&1 && has_web_tools || return 1
	web_pages
	serve asked "$@"
	login
	wsopen asked
	wssend asked '{"type":"nodes"}'
	holds asked.ws '"type":"nodes"' >/dev/null
	grep '"type":"nodes"' asked.ws
	wsclose asked
	kill -9 "${server[asked]}"
	unset "server[asked]"
}

# What is traced on a node, of processes, or by sessions.
# shellcheck disable=SC2016
flags='lists:usort(lists:append([F || P <- processes(), {flags, F} <- [erlang:trace_info(P, flags)]] ++ [[S || erlang:function_exported(trace, session_info, 1), S <- apply(trace, session_info, [all]), S =/= default]])).'
