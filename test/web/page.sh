#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The live page as a person uses it: a node with exact workloads, the server, Debian's chromium.
# The steps are in web/test/browser/page.js, which prints "N passed, N failed" at the end; what is
# left of a script on the node is asked of the node. Steps that lose a node or the server, and wait
# most of the time, run beside the others, with nodes and a server of their own. ONLY=TEXT: the
# steps whose names hold it.

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
nodes_begin 740
erltrace web --help >/dev/null 2>&1 || skip 'erltrace was built without the live page'
[ -e "$ebin/erltrace_agent.beam" ] || skip 'no library beside the command'
command -v npm node >/dev/null || skip 'no npm here'
[ -e "$root/web/dist/index.html" ] || skip 'the page is not built (make page)'
[ -d "$root/web/node_modules/playwright-core" ] || skip 'no playwright-core here (npm ci in web/)'
browser=${CHROMIUM:-$(command -v chromium)}
[ -x "$browser" ] || skip 'no chromium here'

pids=() epmds=()
declare -A steps=() # of which steps: the process
page_end() {
	local p
	for p in "${!steps[@]}"; do # it took too long: as far as they came
		kill -9 "${steps[$p]}" 2>/dev/null
		cat "$p.steps"
	done
	for p in "${pids[@]}"; do
		kill -9 "$p" 2>/dev/null
	done
	[ ${#epmds[@]} = 0 ] || kill "${epmds[@]}" 2>/dev/null
	nodes_end
}
trap page_end EXIT

serve() { # name, arguments: its address is in NAME.url
	local name=$1
	shift
	erltrace web --port 0 --pages "$root/web/dist" "$@" >"$name.url" 2>"$name.log" </dev/null &
	pids+=($!)
	disown
	holds "$name.url" '#token=' >/dev/null && return
	cat "$name.log"
	exit 1
}
# Not in the foreground: the shell heeds the limit's signal only while it waits. What the browser
# leaves behind is in $tmp too.
browse() { # which steps: with the server that was started last
	SERVER=${pids[-1]} CHROMIUM=$browser PAGE_URL=$(cat "$1.url") NODES=$tmp TMPDIR=$tmp LIMIT=700 STEPS=$1 \
		node "$root/web/test/browser/page.js" >"$1.steps" 2>&1 &
	steps[$1]=$!
}

# Nodes that stand still are not seen by the other server: they have another epmd.
export KERNEL_URL='' NO_KERNEL=''
start page_still
start page_gone
serve lost
browse lost
epmds+=("$epmd")
ERL_EPMD_PORT=$(free_port)
epmd_begin

start page_demo
start page_more
start page_api -pa "$ebin" # has the library: what the page shows is compared with the API
# Another server for probes of the kernel, where it lets us.
if erltrace -qn 'syscall::getpid:entry { self->t = vtimestamp; } BEGIN { exit(0); }' >/dev/null 2>why; then
	serve kernel --kernel
	KERNEL_URL=$(cat kernel.url)
else
	NO_KERNEL="no probes of the kernel here: $(head -n 1 why)"
fi
serve own --scripts "$root/scripts"
browse own

count='^[0-9]+ passed, [0-9]+ failed$'
for name in lost own; do
	wait "${steps[$name]}"
	code=$?
	unset "steps[$name]"
	grep -vE "$count" "$name.steps"
	read -r p _ f _ < <(grep -E "$count" "$name.steps" | tail -n 1)
	if [ $code -gt 1 ] || [ -z "$p" ]; then
		echo "FAILED: the steps ended with code $code"
		p=0 f=1
	fi
	passed=$((passed + p)) failed=$((failed + f))
done
finish
