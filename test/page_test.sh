#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The live page as a person uses it: a node with exact workloads, the server, Debian's chromium.
# The steps are in web/test/browser/; what is left of a script on the node is asked of the node.
# ONLY=TEXT: the steps whose names hold it. The last line is "N passed, N failed".

# shellcheck source=test/nodelib.sh
. "$(dirname "$0")/nodelib.sh"
nodes_begin 540
erltrace web --help >/dev/null 2>&1 || skip 'erltrace was built without the live page'
[ -e "$ebin/erltrace_agent.beam" ] || skip 'no library beside the command'
command -v npm node >/dev/null || skip 'no npm here'
[ -e "$root/web/dist/index.html" ] || skip 'the page is not built (make page)'
[ -d "$root/web/node_modules/playwright-core" ] || skip 'no playwright-core here (npm ci in web/)'
browser=${CHROMIUM:-$(command -v chromium)}
[ -x "$browser" ] || skip 'no chromium here'

server=''
page_end() {
	[ -n "$server" ] && kill -9 "$server" 2>/dev/null
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

set -o pipefail
SERVER=$server CHROMIUM=$browser PAGE_URL=$(cat url) NODES=$tmp \
	node "$root/web/test/browser/page.js" 2>&1 | tee o
code=$?
passed=$(grep -c '^ok ' o) failed=$(grep -c '^FAILED ' o)
[ $code = 0 ] || [ "$failed" != 0 ] || failed=1
grep -q '^all steps done' o || failed=$((failed + 1))
finish
