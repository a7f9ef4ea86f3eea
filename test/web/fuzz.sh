#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# erltrace web and bad input (web_fuzz.py): it is answered or hung up on, and the server lives,
# idle when it is over, and ends as it should. make asan runs this with a server that has the
# sanitizers in it. The last line is "N passed, N failed".

# shellcheck source=test/lib/nodelib.sh
. "$(dirname "$0")/../lib/nodelib.sh"
# shellcheck source=test/lib/weblib.sh
. "$(dirname "$0")/../lib/weblib.sh"
nodes_begin 540 bare
erltrace web --help >/dev/null 2>&1 || skip 'erltrace was built without the live page'
web_tools

serve fuzzed --log audit
login
"$python" "$root/test/web/web_fuzz.py" "$port" "$cookie" "${FUZZ_SEED:-1}" >out 2>err
cat out err
while read -r verdict name; do
	ok "$name" [ "$verdict" = ok ]
done < <(grep -E '^(ok|FAILED) ' out)
ok 'all kinds were tried' [ "$(grep -cE '^(ok|FAILED) ' out)" = 12 ]

# Idle: no thread but the server's own.
threads() { find "/proc/${server[fuzzed]}/task" -mindepth 1 -maxdepth 1 | wc -l; }
for ((i = 0; i < 2400; i++)); do
	[ "$(threads)" = 1 ] && break
	sleep 0.025
done
is 'no thread is left' 1 "$(threads)"
ok 'the token is not in the log' [ "$(grep -c "$token" audit fuzzed.log | grep -cv ':0$')" = 0 ]
kill -TERM "${server[fuzzed]}"
for ((i = 0; i < 2400; i++)); do
	gone "${server[fuzzed]}" && break
	sleep 0.025
done
ok 'it ends' gone "${server[fuzzed]}"
ok 'without a word of a sanitizer' [ "$(grep -cE 'Sanitizer|runtime error' fuzzed.log)" = 0 ]
grep -E -A 30 'Sanitizer|runtime error' fuzzed.log
finish
