#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# The packages of `make deb` in a Debian that has nothing else: a chroot made for it with
# debootstrap and removed at the end. They are installed there, used against a stock node of
# Debian's Erlang, and purged. Needs root and the network. The last line is "N passed, N failed".
#
#	tools/test-deb.sh FOLDER     that has the packages
#
#	DEB_SUITE=bookworm    which Debian (as the one that the packages were built on)
#	DEB_MIRROR=URL        where Debian's packages are (debootstrap's own choice)

set -u

die() {
	echo "test-deb: $*" >&2
	exit 1
}

# ---- inside the chroot ------------------------------------------------------------------------

passed=0 failed=0
is() { # name, wanted, got
	if [[ $2 == "$3" ]]; then
		passed=$((passed + 1))
	else
		failed=$((failed + 1))
		printf 'FAILED %s\n  wanted: %s\n  got:    %s\n' "$1" "$2" "$3"
	fi
}

# shellcheck disable=SC2016 # $pid is D's
inside() {
	local version out node
	cd /debs || exit 1
	ip link set lo up
	version=$(dpkg-deb -f erltrace_*.deb Version)

	is 'the command' "erltrace $version" "$(erltrace -V)"
	is 'the command, unprivileged' hi \
		"$(setpriv --reuid=nobody --clear-groups erltrace -qn 'BEGIN { printf("hi"); exit(0); }' 2>&1)"

	# A stock node; the script is over when its 500 spawns have been counted.
	erl -noshell -sname stock -eval '
		(fun Wait() -> case erlang:trace_info(new_processes, flags) of
			{flags, []} -> timer:sleep(20), Wait(); _ -> ok end end)(),
		[spawn(lists, seq, [1, 10]) || _ <- lists:seq(1, 500)],
		receive stop -> ok end.' &
	node=$!
	until epmd -names 2>/dev/null | grep -q stock; do sleep 0.1; done
	is 'spawns of a stock node' 'lists:seq/2 500' "$(timeout 60 erltrace -N stock -qn '
		erlang*:::process-spawn /args[1] == "lists:seq/2"/ { @[args[1]] = count(); n++; }
		erlang*:::process-spawn /n == 500/ { exit(0); }
		END { printa("%s %@d", @); }' 2>&1)"
	out=$(timeout 60 erltrace -N stock -qs births 1 2>&1)
	is 'a script of the library, by its name' 'BORN DIED' "$(head -n 1 <<<"$out" | xargs)"
	# The node has the package's modules in its path: they stay loaded, and that is all.
	is 'no process is left in the node' '[]' "$(erl -noshell -sname ask -eval '
		{ok, H} = inet:gethostname(), N = list_to_atom("stock@" ++ H),
		L = rpc:call(N, erlang, registered, []),
		io:format("~p", [[P || P <- L, lists:prefix("erltrace", atom_to_list(P))]]),
		halt().' 2>&1)"
	exec 3< <(timeout 60 erltrace web -N stock --port 0 2>&1)
	read -r -t 30 -u 3 out
	is 'the live page' 'HTTP/1.1 200 OK' "$(
		port=${out##*127.0.0.1:} port=${port%%/*}
		exec 4<>"/dev/tcp/127.0.0.1/$port"
		printf 'GET / HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nConnection: close\r\n\r\n' "$port" >&4
		head -n 1 <&4 | tr -d '\r')"
	exec 3<&-
	kill "$node"

	is 'the application' "42 $version" "$(erl -noshell -eval '
		ok = application:start(erltrace),
		{ok, H} = erltrace:script("BEGIN { trace(42); exit(0); }"),
		{ok, [{probe, _, N}]} = erltrace:consume(H),
		{ok, Vsn} = application:get_key(erltrace, vsn),
		io:format("~b ~s", [N, Vsn]), halt().')"
	is 'completion' aggsortkeypos "$(bash -c '. /usr/share/bash-completion/completions/erltrace
		COMP_WORDS=(erltrace -x aggsortkeyp) COMP_CWORD=2
		compopt() { :; }
		_erltrace erltrace; echo "${COMPREPLY[*]}"')"
	sed -n -f /debs/man-example.sed <(zcat /usr/share/man/man3/liberltrace.3.gz) >/tmp/example.c
	# shellcheck disable=SC2046
	is 'a C program' 0 "$(gcc -o /tmp/example /tmp/example.c $(pkg-config --cflags --libs erltrace) \
		>&2 && /tmp/example >/dev/null; echo $?)"

	apt-get purge -y -qq erltrace liberltrace0 liberltrace-dev >/dev/null 2>&1
	is 'purged' '' "$(find / -xdev \( -path /debs -o -path /tmp -o -path /proc \) -prune \
		-o -name '*erltrace*' -print)"
	echo "$passed passed, $failed failed"
	exit $((failed > 0))
}

[[ ${1-} == --inside ]] && inside

# ---- outside ----------------------------------------------------------------------------------

((EUID == 0)) || die 'needs root: it makes a chroot (try: sudo make test-deb)'
debs=$(realpath "${1:?the folder with the packages}")
compgen -G "$debs/erltrace_*.deb" >/dev/null || die "no packages in $debs: make deb builds them"
command -v debootstrap >/dev/null || die 'needs debootstrap (apt-get install debootstrap)'
cd "$(dirname "$0")/.." || exit 1

# In mount and process namespaces of its own: however it ends, no mount and no process is left.
if [[ -z ${ERLTRACE_UNSHARED-} ]]; then
	ERLTRACE_UNSHARED=1 exec unshare --mount --pid --fork --kill-child --propagation private \
		tools/test-deb.sh "$debs"
fi
at=$(mktemp -d /var/tmp/erltrace-deb.XXXXXX)
chmod 755 "$at"
trap 'umount -l "$at/proc" "$at/dev"; rm -rf --one-file-system "$at"' EXIT
echo 'test-deb: making a Debian: a moment ...'
debootstrap --variant=minbase "${DEB_SUITE:-bookworm}" "$at" ${DEB_MIRROR:+"$DEB_MIRROR"} \
	>"$debs/chroot.log" 2>&1 || die "debootstrap failed: see $debs/chroot.log"
{ mount -t proc proc "$at/proc" && mount --bind /dev "$at/dev"; } || die 'cannot mount'
cp /etc/resolv.conf "$at/etc/resolv.conf"
mkdir "$at/debs" && cp "$debs"/*_*.deb tools/test-deb.sh tools/man-example.sed "$at/debs/"
rm -f "$at"/debs/*dbgsym*
go() { # command
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb LANG=C.UTF-8 \
		DEBIAN_FRONTEND=noninteractive chroot "$at" bash -c "$1"
}
go 'apt-get update -qq; apt-get install -y -qq --no-install-recommends /debs/*.deb erlang-base \
	gcc libc6-dev pkg-config iproute2' >>"$debs/chroot.log" 2>&1 ||
	die "the packages cannot be installed: see $debs/chroot.log"
# (As an alias of localhost it would not do: nodes of OTP would not reach each other.)
printf '127.0.0.1 localhost\n127.0.0.1 %s\n' "$(hostname)" >"$at/etc/hosts"
export -f go
at=$at unshare --net bash -c 'go "/debs/test-deb.sh --inside"'
