# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# For tests of erltrace serve, after nodelib.sh: sourced, not run.
#
#	serve_begin SECONDS              in place of nodes_begin
#	serve arguments...               a server: its address in $url, what it says in log
#	serve_ends SIGNAL                it ends
#	shows NAME REGEX                 waits until /metrics has such a line; the text stays in o
#	background LOG COMMAND...        until the test ends

server=''
pids=()
serve_end() {
	local p
	[ -n "$server" ] && kill -9 "$server" 2>/dev/null
	for p in "${pids[@]}"; do kill -9 "$p" 2>/dev/null; done
	nodes_end
}

serve_begin() { # seconds
	nodes_begin "$1"
	trap serve_end EXIT
	erltrace serve --help >/dev/null 2>&1 || skip 'erltrace was built without the server of metrics'
	command -v curl >/dev/null || skip 'no curl here'
}

background() { # log, command ...
	"${@:2}" >"$1" 2>&1 </dev/null &
	pids+=($!)
	disown
}

serve() { # arguments
	rm -f url
	erltrace serve --port 0 "$@" >url 2>log </dev/null &
	server=$!
	disown
	until [ -s url ] || gone "$server"; do sleep 0.05; done
	url=$(head -n 1 url)
}

serve_ends() { # signal; a minute at most
	local i
	kill "-$1" "$server"
	for ((i = 0; i < 2400; i++)); do gone "$server" && break; sleep 0.025; done
	ok "it ends by SIG$1" gone "$server"
	server=''
}

# A minute at most.
shows() { # name, extended regular expression
	local i
	for ((i = 0; i < 600; i++)); do
		curl -s --max-time 10 "$url" >o && grep -qE -- "$2" o && break
		sleep 0.1
	done
	has "$1" "$2"
}
