#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Where the cookie goes and comes from: erltrace:web/1 writes it into no file; -p reads the file that
# the process sees, not what a link of its leads to out here, and nothing that is no file. Needs root
# and strace.

# shellcheck disable=SC2016 # $pid is D's
# shellcheck source=test/lib/nodelib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../lib/nodelib.sh"
# shellcheck source=test/lib/weblib.sh
. "$(dirname "$0")/../lib/weblib.sh"
nodes_begin 300 bare
epmd_begin
everywhere='erlang*:::process-spawn { } BEGIN { printf("hello %d\n", $pid); exit(0); }'

# ---- handed to the live page's server -----------------------------------------------------

if command -v strace >/dev/null && erltrace web --help >/dev/null 2>&1; then
	start paged -pa "$ebin" -setcookie handedover
	at paged 'application:ensure_all_started(erltrace).' >/dev/null
	mkdir pages && echo page >pages/index.html
	strace -f -y -s 512 -e trace=openat,creat,write,writev,pwrite64 -p "${pid[paged]}" \
		-o calls 2>strace.err &
	strace=$!
	ok 'strace' holds strace.err attached
	url=$(at paged "{ok, W, U} = erltrace:web(#{port => 0, command => \"$(command -v erltrace)\", pages => \"$tmp/pages\"}), register(page, W), U.")
	like 'the page is there' '^http://' "$url"
	server=$(at paged '[P] = [O || P <- erlang:ports(), {connected, whereis(page)} =:= erlang:port_info(P, connected), {os_pid, O} <- [erlang:port_info(P, os_pid)]], P.')
	kept=$(find "/proc/$server/fd" -lname '/memfd:cookie*' | head -n 1)
	is 'what the server keeps opens the node' true "$(page_nodes -N paged \
		--cookie-file "$kept" | grep -q "\"ospid\":${pid[paged]}," && echo true)"
	at paged 'erltrace:web_stop(whereis(page)).' >/dev/null
	kill "$strace"
	wait "$strace" 2>/dev/null
	ok 'the calls were seen' grep -q handedover calls
	is 'the cookie is written into pipes and memory only' '' \
		"$(grep -E '(write|writev|pwrite64)\(' calls | grep handedover | grep -vE '\(([0-9]+)<(pipe:|/memfd:cookie)')"
else
	echo 'skipped: no strace, or no live page: the cookie on its way to its server'
fi

# ---- of a process in a root of its own ----------------------------------------------------

unshare -m true 2>/dev/null || skip 'no containers for us (unshare needs root)'

# The same path leads to another file inside of its root.
mkdir -p jail/home "jail$tmp/secrets" secrets
(umask 077 && echo -n ofoutside >secrets/cookie && echo -n ofinside >"jail$tmp/secrets/cookie")
ln -s "$tmp/secrets/cookie" jail/home/.erlang.cookie
mkfifo jailed.in jailed.out
exec {i}<>jailed.in {o}<>jailed.out
unshare -m bash -c '
	for d in bin sbin lib lib64 usr etc proc dev; do
		if [ -L "/$d" ]; then cp -a "/$d" jail/; else mkdir "jail/$d" && mount --rbind "/$d" "jail/$d"; fi
	done
	HOME=/home exec chroot jail erl -noshell -start_epmd false -sname jailed -eval "$1"' bash "$loop" \
	<&"$i" >&"$o" 2>jailed.log &
pid[jailed]=$! in[jailed]=$i out[jailed]=$o
disown
is 'the node has the cookie of its own root' ofinside "$(at jailed 'erlang:get_cookie().')"
is '-p has the same' "hello ${pid[jailed]}" \
	"$(timeout 60 erltrace -p "${pid[jailed]}" -qn "$everywhere" 2>&1 | grep .)"
ln -sf "../../../../../../../..$tmp/secrets/cookie" jail/home/.erlang.cookie
is 'by a path that climbs' "hello ${pid[jailed]}" \
	"$(timeout 60 erltrace -p "${pid[jailed]}" -qn "$everywhere" 2>&1 | grep .)"
ln -sf "/proc/$$/root$tmp/secrets/cookie" jail/home/.erlang.cookie
timeout 60 erltrace -p "${pid[jailed]}" -qn "$everywhere" >o 2>&1
is 'by a link of /proc out of its root: exit' 1 $?
has 'it is not followed' "does not accept the cookie of $tmp/.erlang.cookie"
for odd in fifo device folder; do
	rm -rf jail/home/.erlang.cookie
	case $odd in
	fifo) mkfifo jail/home/.erlang.cookie ;;
	device) mknod jail/home/.erlang.cookie c 1 5 ;; # as /dev/zero
	folder) mkdir jail/home/.erlang.cookie ;;
	esac
	timeout 60 erltrace -p "${pid[jailed]}" -qn "$everywhere" >o 2>&1
	is "a $odd for a cookie: exit" 1 $?
	has "a $odd for a cookie: ours is tried" "does not accept the cookie of $tmp/.erlang.cookie"
done
finish
