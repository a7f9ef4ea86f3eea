#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Runs the tests of the Erlang side, and the golden ones, on other releases of OTP than this
# machine's: on the stock packages of Debian's releases, each in a chroot of its own made with
# debootstrap; and the command of here against nodes there. Needs root, and the first time the
# network: about 0.7 GB a release in OTP_ROOTS.
# One line a release; the last line is "N passed, N failed".
#
#	tools/test-otp.sh [RELEASE...]
#
#	OTP_ROOTS=DIR    where the chroots are kept (/var/tmp/erltrace-otp)
#	OTP_MIRROR=URL   where Debian's packages are (debootstrap's own choice)
#	OTP_UPDATE=1     bring the packages of the chroots up to date first
#	ONLY=TEXT        tests whose names hold TEXT
#	PROP_TESTS=N     so many cases of each property
#	TEST_TIMEOUT=N   seconds that one test may take (tools/run-tests.sh)
#
# All of it happens in mount and process namespaces of its own: however this ends, no mount and no
# process (an epmd, a node) is left. The tests have a loopback of their own beside: whatever else
# uses ports here (an epmd, another run of tests) is not in their way, nor they in its.

set -u

declare -A suites=([27]=trixie [29]=sid)
roots=${OTP_ROOTS:-/var/tmp/erltrace-otp}
mirror=${OTP_MIRROR-}
packages=(make gcc libc6-dev binutils procps erlang-base erlang-dev erlang-eunit erlang-tools
	erlang-runtime-tools erlang-crypto erlang-syntax-tools erlang-proper erlang-proper-dev
	erlang-edoc erlang-inets libjs-jquery libjs-jquery-tablesorter jq python3
	pkg-config libwebsockets-dev libjansson-dev libcap-dev libssl-dev elixir curl iproute2)
# Taken out of their packages, without what those depend on (wx, and with it half a desktop).
unpacked=(erlang-common-test erlang-xmerl)

die() {
	echo "test-otp: $*" >&2
	exit 1
}

((EUID == 0)) || die 'needs root: it makes chroots and mounts in them (try: sudo make test-otp)'
cd "$(dirname "$0")/.." || exit 1
for release in "$@"; do
	[[ -n ${suites[$release]-} ]] || die "no release $release: there are ${!suites[*]}"
done
(($# > 0)) || set -- 27 29

for need in debootstrap:debootstrap ip:iproute2; do
	command -v "${need%:*}" >/dev/null && continue
	[[ -z ${NO_DEPS-} ]] || die "needs ${need#*:}"
	echo "erltrace: installing Debian packages: ${need#*:}"
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
		"${need#*:}" >/dev/null || die "cannot install ${need#*:}"
done

if [[ -z ${ERLTRACE_UNSHARED-} ]]; then
	ERLTRACE_UNSHARED=1 exec unshare --mount --pid --fork --kill-child --propagation private \
		tools/test-otp.sh "$@"
	die 'cannot make namespaces (unshare): is this a container without CAP_SYS_ADMIN?'
fi

inside() { # root, command
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb LANG=C.UTF-8 \
		DEBIAN_FRONTEND=noninteractive ONLY="${ONLY-}" ${PROP_TESTS:+PROP_TESTS="$PROP_TESTS"} \
		${TEST_TIMEOUT:+TEST_TIMEOUT="$TEST_TIMEOUT"} chroot "$1" bash -c "$2"
}

mounts() { # root
	mount --bind "$1" "$1" && # unshare --mount-proc wants a root that is a mount
		mount -t proc proc "$1/proc" && mount -t sysfs -o ro sysfs "$1/sys" &&
		mount --bind /dev "$1/dev" &&
		mount -t devpts devpts "$1/dev/pts" -o newinstance,ptmxmode=0666 &&
		mount -t tmpfs tmpfs "$1/dev/shm"
}

# A chroot is made under another name and renamed when it is whole.
make_root() { # root, suite
	local new=$1.new
	echo "test-otp: making $1: a moment ..."
	rm -rf --one-file-system "$new"
	mkdir -p "$new"
	debootstrap --variant=minbase "$2" "$new" ${mirror:+"$mirror"} || return 1
	mv "$new" "$1"
}

# The packages, once; again with OTP_UPDATE=1, or when there are more of them.
fill_root() { # root
	[[ -e $1/.erltrace-ready && $(<"$1/.erltrace-ready") == "${packages[*]} ${unpacked[*]}" &&
		-z ${OTP_UPDATE-} ]] && return 0
	cp /etc/resolv.conf "$1/etc/resolv.conf"
	# Where a mirror's lists cannot be had anew, those that debootstrap has left will do.
	inside "$1" "apt-get update -qq; apt-get dist-upgrade -y -qq &&
		apt-get install -y -qq --no-install-recommends ${packages[*]} &&
		cd /tmp && rm -f *.deb && apt-get download -qq ${unpacked[*]} &&
		for p in *.deb; do dpkg -x \$p / || exit 1; done && rm -f *.deb && apt-get clean" ||
		return 1
	echo "${packages[*]} ${unpacked[*]}" >"$1/.erltrace-ready"
}

# Files as they are here: those of git, and new ones that it does not ignore.
copy_tree() { # to
	rm -rf "$1" && mkdir -p "$1" || return 1
	if git rev-parse --git-dir >/dev/null 2>&1; then
		git ls-files -z -co --exclude-standard |
			while IFS= read -r -d '' f; do [[ -e $f ]] && printf '%s\0' "$f"; done |
			tar -c --null -T - | tar -x -C "$1" --no-same-owner
	else
		tar -c --exclude=./{build,bin,lib,priv,ebin} . | tar -x -C "$1" --no-same-owner
	fi
}

# What was built of another tree may be newer than the files of this one: make would take it for theirs.
own_build() { # root
	[[ -e $1/.erltrace-tree && $(<"$1/.erltrace-tree") == "$PWD" ]] || rm -rf "$1/erltrace-build"
	echo "$PWD" >"$1/.erltrace-tree"
}

# The command that was built here against a node of the chroot, and the other way round.
across() { # root
	local base
	base=$(cd "${BIN:-bin}/.." 2>/dev/null && pwd)
	if [[ ! -x $base/bin/erltrace || ! -e $base/ebin/erltrace.app ]]; then
		echo 'skipped: the command of here against nodes there: nothing is built here (make)'
		return 0
	fi
	mkdir -p "$1$base" && mount --bind "$base" "$1$base" || return 1
	OTHER="chroot $1" OTHER_BIN=/erltrace-build/bin test/node/releases.sh
}

# In namespaces of its own (below), with a loopback and nothing else.
tests() { # root
	ip link set lo up || return 1
	inside "$1" 'cd /erltrace && make -s O=/erltrace-build test-erlang'
	[[ -z ${ONLY-} ]] || return 0
	inside "$1" 'cd /erltrace && BIN=/erltrace-build/bin test/golden.sh'
	across "$1"
	return 0
}
if [[ -n ${ERLTRACE_TESTS-} ]]; then
	tests "$ERLTRACE_TESTS"
	exit
fi

passed=0 failed=0
test_release() { # release
	local suite=${suites[$1]} root=$roots/${suites[$1]} log=$roots/$1.log p=0 f=0 line erts
	{
		# What fails without counts of its own counts as one.
		{ [[ -d $root ]] || make_root "$root" "$suite"; } && mounts "$root" &&
			fill_root "$root" && own_build "$root" && copy_tree "$root/erltrace" &&
			inside "$root" 'cd /erltrace && make -j"$(nproc)" O=/erltrace-build all erl-tests' &&
			printf '127.0.0.1 %s localhost\n::1 localhost\n' "$(hostname)" >"$root/etc/hosts" &&
			ERLTRACE_TESTS=$root unshare --net tools/test-otp.sh "$1" ||
			echo '0 passed, 1 failed'
	} >"$log" 2>&1 </dev/null
	# A log without results, or with those of a release that is not this one, is a failure.
	erts=$(inside "$root" "erl -noshell -eval 'io:format(\"~s ~s\",
		[erlang:system_info(otp_release), erlang:system_info(version)]), halt().'" 2>/dev/null)
	while IFS= read -r line; do
		[[ $line =~ ^([0-9]+)\ passed,\ ([0-9]+)\ failed$ ]] || continue
		p=$((p + BASH_REMATCH[1])) f=$((f + BASH_REMATCH[2]))
	done <"$log"
	[[ ${erts%% *} == "$1" && $p -gt 0 ]] || f=$((f + 1))
	((f == 0)) || tail -n "${SHOW_LINES:-200}" "$log"
	echo "OTP ${erts%% *} (Debian $suite, erts ${erts##* }): $p passed, $f failed"
	passed=$((passed + p)) failed=$((failed + f))
}

mkdir -p "$roots" || exit 1
for release in "$@"; do
	test_release "$release"
done
echo "$passed passed, $failed failed"
((failed == 0))
