#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The command against a node of another release of OTP: what it brings there works on that release
# if that is newer, and says what to do if it is older. OTHER="chroot DIR" is where the other
# release is, with this folder visible there under the same path; OTHER_BIN the folder of the
# command that was built there. tools/test-otp.sh calls it; without OTHER there is nothing to do.
# The last line is "N passed, N failed".

set -u
if [ -z "${OTHER-}" ]; then
	echo 'no other release here (make test-otp has them): left out'
	echo '0 passed, 0 failed'
	exit
fi
# shellcheck source=test/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
cd "$tmp" || exit 1
export HOME=$tmp ERL_EPMD_PORT=$((10000 + $$ % 20000))
unset ERL_COOKIE_FILE ERL_LIBS
read -ra other <<<"$OTHER"

cleanup() {
	kill -9 ${pids[@]+"${pids[@]}"} 2>/dev/null
	wait 2>/dev/null
	rm -rf "$tmp"
}
trap cleanup EXIT

# A node that evaluates the lines it reads.
loop='F = fun F() ->
	{ok, T, _} = erl_scan:string(io:get_line("")),
	{ok, E} = erl_parse:parse_exprs(T),
	{value, V, _} = erl_eval:exprs(E, []),
	io:format("@@~0p~n", [V]),
	F()
end, F().'
start() { # name, more in front of erl
	local name=$1
	shift
	mkfifo in out
	exec 8<>in 9<>out
	"$@" erl -noshell -start_epmd false -sname "$name" -setcookie right -eval "$loop" \
		<&8 >&9 2>log &
	pids+=($!)
	disown
	at 'ready.' >/dev/null
	rm in out
}
at() { # expressions: prints the value of the last
	local line
	echo "$1" >&8
	while read -r -t 20 line <&9; do
		[ "${line:0:2}" = @@ ] && echo "${line:2}" && return 0
	done
	return 1
}
left='{[M || M <- erlang:loaded(), lists:prefix("erltrace", atom_to_list(M))], application:get_all_env(erltrace)}.'
release='list_to_integer(erlang:system_info(otp_release)).'
script='BEGIN { printf("go\n"); }
erlang*:::process-spawn /copyinstr(arg1) == "erlang:apply/2"/ { @[probename] = count(); }
erlang*:lists:seq/2:function-entry, erlang*:lists:seq/2:function-return { @[probename] = count(); }'
work="[begin {P, M} = spawn_monitor(fun() -> ok end), receive {'DOWN', M, _, P, _} -> ok end, lists:seq(1, 3) end || _ <- lists:duplicate(500, x)], done."

pids=()
umask 077
echo -n right >.erlang.cookie
epmd -port "$ERL_EPMD_PORT" -address 127.0.0.1 >/dev/null 2>&1 &
pids+=($!)
disown
for ((i = 0; i < 800; i++)); do
	epmd -names >/dev/null 2>&1 && break
	sleep 0.025
done

# ---- a node there, the command of here ----------------------------------------------------

here=$(erl -noshell -eval 'io:format("~s", [erlang:system_info(otp_release)]), halt().')
start "there$$" "${other[@]}"
there=$(at "$release")
traces() { # command...
	rm -f o e # what is in them is the last one's
	"$@" -qn "$script" >o 2>e &
	local command=$!
	if holds o go; then
		at "$work" >/dev/null
		kill -TERM $command
	fi
	wait $command
	status=$?
	counts=$(sed -nE 's/^ *([a-z]\S+) +([0-9]+)$/\1 \2/p' o | sort | xargs)
}
# What an older release has compiled works on a newer one, and not the other way round.
judge() { # from, to
	local way="OTP $1 to $2"
	if (($1 <= $2)); then
		is "$way: exit" 0 "$status"
		is "$way: exactly" 'function-entry 500 function-return 500 process-spawn 500' \
			"$counts"
		is "$way: nothing is said" '' "$(cat e)"
	else
		is "$way: exit" 1 "$status"
		is "$way: what to do" "build erltrace with OTP $2 or an older one" \
			"$(grep -o 'build erltrace with .*' e)"
	fi
	for ((i = 0; i < 200; i++)); do # the agent goes a moment after the command
		[ "$(at "$left")" = '{[],[]}' ] && break
		sleep 0.05
	done
	is "$way: nothing is left" '{[],[]}' "$(at "$left")"
}
traces erltrace -N "there$$"
judge "$here" "$there"

# ---- a node here, the command of there ----------------------------------------------------

start "here$$"
chroot_tmp=${other[1]}/tmp/erltrace-home
mkdir -p "$chroot_tmp" && cp .erlang.cookie "$chroot_tmp"
traces env HOME=/tmp/erltrace-home "${other[@]}" "$OTHER_BIN/erltrace" -N "here$$"
rm -rf "$chroot_tmp"
judge "$there" "$here"

finish
