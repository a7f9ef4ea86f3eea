#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# erltrace web without any privilege: run by root, all of this is done by the user nobody, node,
# server and commands. The last line is "N passed, N failed".

if [ "$(id -u)" = 0 ]; then
	root=$(cd "$(dirname "$0")/../.." && pwd)
	as=(setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=-all --bounding-set=-all --no-new-privs)
	if ! "${as[@]}" test -r "$root/test/lib/weblib.sh" -a -x "$root/${BIN:-bin}/erltrace"; then
		echo 'skipped: no setpriv here, or its user cannot read this folder'
		echo '0 passed, 0 failed'
		exit 0
	fi
	exec "${as[@]}" env -u XDG_RUNTIME_DIR TMPDIR=/tmp bash "$0" "$@"
fi

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
# shellcheck source=test/lib/weblib.sh
. "$(dirname "$0")/../lib/weblib.sh"
web_begin 300

start web_demo
serve one
is 'the page' 200 "$(code "$url")"
login
wsopen a
wssend a '{"type":"nodes"}'
ok 'the node of this user' holds a.ws '"name":"web_demo@[^"]*","ospid":[0-9]+,"otp":"[0-9]+","ok":true'
run a 1 'erlang*:::process-spawn { @ = count(); }'
ok 'it is traced' [ "$(at web_demo "$flags")" != '[]' ]
at web_demo '[spawn(fun() -> ok end) || _ <- [1, 2, 3]], ok.' >/dev/null
ok 'and seen' holds a.ws '"type":"tick".*"function":"count","keys":\[\],"value":[1-9]'
wsclose a
becomes 'nothing is left' '[]' web_demo "$flags"
ok 'no privilege was needed' grep -q '^CapEff:[[:space:]]*0*$' "/proc/${server[one]}/status"
finish
