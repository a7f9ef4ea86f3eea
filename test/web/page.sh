#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The live page as a person uses it: a node with exact workloads, the server, Debian's chromium.
# The steps are in web/test/browser/page.js, which prints "N passed, N failed" at the end; what is
# left of a script on the node is asked of the node. ONLY=TEXT: the steps whose names hold it.

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

server='' kernel='' steps=''
page_end() {
	[ -n "$steps" ] && kill -9 "$steps" 2>/dev/null
	[ -n "$server" ] && kill -9 "$server" 2>/dev/null
	[ -n "$kernel" ] && kill -9 "$kernel" 2>/dev/null
	nodes_end
}
trap page_end EXIT

start page_demo
start page_more
start page_api -pa "$ebin" # has the library: what the page shows is compared with the API
erltrace web --port 0 --pages "$root/web/dist" --scripts "$root/scripts" \
	>url 2>server.log </dev/null &
server=$!
disown
holds url '#token=' >/dev/null || {
	cat server.log
	exit 1
}

# Another one for probes of the kernel, where it lets us.
KERNEL_URL='' NO_KERNEL=''
if erltrace -qn 'syscall::getpid:entry { self->t = vtimestamp; } BEGIN { exit(0); }' >/dev/null 2>why; then
	erltrace web --kernel --port 0 --pages "$root/web/dist" >kernel.url 2>kernel.log </dev/null &
	kernel=$!
	disown
	holds kernel.url '#token=' >/dev/null || {
		cat kernel.log
		exit 1
	}
	KERNEL_URL=$(cat kernel.url)
else
	NO_KERNEL="no probes of the kernel here: $(head -n 1 why)"
fi
export KERNEL_URL NO_KERNEL

# Not in the foreground: the shell heeds the limit's signal only while it waits. What the browser
# leaves behind is in $tmp too.
SERVER=$server CHROMIUM=$browser PAGE_URL=$(cat url) NODES=$tmp TMPDIR=$tmp LIMIT=700 \
	node "$root/web/test/browser/page.js" 2>&1 &
steps=$!
wait $steps
code=$?
steps=''
if [ $code -gt 1 ]; then
	echo "FAILED: the steps ended with code $code"
	echo "0 passed, 1 failed"
fi
exit $code
