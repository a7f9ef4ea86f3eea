#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs what `make demo`, `make test` or `make deb` needs and this machine lacks, from Debian's packages,
# as root or by sudo, and says what. Nothing missing: nothing is said or done. What only the live
# page needs, and what tests compare with, may fail to come: that is said, and the rest goes on
# without it.
#
#	tools/install-deps.sh demo|test|deb     with WEB= (empty): nothing that only the live page needs

set -u

need=() page=() others=() # packages: without them nothing; no live page; some tests are skipped
want() { # package, then a command that succeeds if it is there
	local package=$1
	shift
	"$@" >/dev/null 2>&1 || need+=("$package")
}

want_page() { # the same, for the live page
	local package=$1
	shift
	[[ -z ${WEB-yes} ]] || "$@" >/dev/null 2>&1 || page+=("$package")
}

want_other() { # the same, for tests that compare with it
	local package=$1
	shift
	"$@" >/dev/null 2>&1 || others+=("$package")
}

has_fuzzer() { # clang's run-time libraries: the sanitizers and libFuzzer
	local lib
	lib=$(clang -print-file-name="libclang_rt.fuzzer-$(uname -m).a") && [[ -e $lib ]]
}

has_tool() { [[ -x /usr/sbin/$1 || -x $(command -v "$1") ]]; } # not in everybody's path

has_browser() { command -v "${CHROMIUM:-chromium}"; }

# Erlang's packages: where erl is another's than Debian's, those are not mixed in.
erlang=1
command -v erl >/dev/null && [[ $(realpath "$(command -v erl)") != /usr/lib/erlang/* ]] && erlang=0
want_otp() { # package, a file that it brings, below /usr/lib/erlang (a pattern)
	((erlang)) && want "$1" compgen -G "/usr/lib/erlang/$2"
}

want gcc command -v "${CC:-gcc}"
want libc6-dev test -e /usr/include/stdio.h
want pkg-config command -v pkg-config
want_otp erlang-base bin/erl
want_otp erlang-dev usr/include/erl_nif.h
want_otp erlang-runtime-tools 'lib/runtime_tools-*/ebin/dyntrace.beam'
want_page libwebsockets-dev test -e /usr/include/libwebsockets.h
want_page libjansson-dev test -e /usr/include/jansson.h
want_page libcap-dev test -e /usr/include/sys/capability.h # libwebsockets' header needs it
want_page libssl-dev pkg-config --exists libcrypto
want_page npm command -v npm # and with it nodejs
if [[ ${1-} == deb ]]; then
	want debhelper command -v dh
	want clang command -v clang
fi
if [[ ${1-} == test ]]; then
	want_otp erlang-eunit 'lib/eunit-*/ebin/eunit.beam'
	want_otp erlang-common-test 'lib/common_test-*/ebin/ct.beam'
	want_otp erlang-tools 'lib/tools-*/ebin/tools.app'
	want_otp erlang-edoc 'lib/edoc-*/ebin/edoc.beam'
	want_otp erlang-dialyzer 'lib/dialyzer-*/ebin/dialyzer.beam'
	want_otp erlang-proper 'lib/proper-*/ebin/proper.beam'
	want_otp erlang-proper-dev 'lib/proper-*/include/proper.hrl'
	((erlang)) && want rebar3 command -v rebar3
	((erlang)) && want elixir command -v mix
	want jq command -v jq
	want cpp command -v cpp
	want clang command -v clang
	want libclang-rt-dev has_fuzzer
	want groff-base command -v groff
	want curl command -v curl
	want python3 command -v python3
	want binutils command -v objdump
	want procps command -v ps
	want_other bpftrace has_tool bpftrace
	want_other bpftool has_tool bpftool
	want_other xz-utils command -v xz
	want_other prometheus command -v prometheus # and with it promtool
	want_other prometheus-alertmanager command -v prometheus-alertmanager
	want_page chromium has_browser
	want_page openssl command -v openssl
fi

((${#need[@]} + ${#page[@]} + ${#others[@]})) || exit 0

# What to do by hand; without the page's packages it goes on.
by_hand() { # what is in the way
	echo "erltrace: $1: please install ${need[*]} ${page[*]} ${others[*]}" >&2
	((${#need[@]})) && exit 1
	((${#page[@]})) && echo 'erltrace: some of these are for the live page: without them some of it is left out' >&2
	((${#others[@]})) && echo "erltrace: without ${others[*]} some tests are skipped" >&2
	exit 0
}

command -v apt-get >/dev/null || by_hand 'no apt-get here (these are the names of Debian'\''s packages)'
root=()
if ((EUID != 0)); then
	command -v sudo >/dev/null || by_hand 'not root and no sudo'
	root=(sudo)
fi

install() {
	"${root[@]}" env DEBIAN_FRONTEND=noninteractive \
		apt-get install -y -qq --no-install-recommends "$@"
}

# The first try says nothing when it fails: an old list of packages is the usual reason, so there
# is a second one, with a new list.
updated=''
fetch() { # packages
	install "$@" >/dev/null 2>&1 && return
	[[ -n $updated ]] || "${root[@]}" apt-get update -qq
	updated=1
	install "$@" >/dev/null
}

# Some releases have clang's run-time libraries only by its version.
fetch_fuzzer() {
	has_fuzzer || fetch "libclang-rt-$(clang -dumpversion | cut -d. -f1)-dev"
}

fetch_need() {
	local v=() p
	fetch "${need[@]}" && return
	for p in "${need[@]}"; do
		[[ $p == libclang-rt-dev ]] || v+=("$p")
	done
	((${#v[@]} < ${#need[@]})) && { ((${#v[@]} == 0)) || fetch "${v[@]}"; } && fetch_fuzzer
}

if ((${#need[@]})); then
	echo "erltrace: installing Debian packages: ${need[*]}"
	fetch_need || exit 1
fi
if ((${#others[@]})); then
	echo "erltrace: installing Debian packages that tests compare with: ${others[*]}"
	for p in "${others[@]}"; do
		fetch "$p" || echo "erltrace: no package $p to be had: tests that need it are skipped"
	done
fi
((${#page[@]})) || exit 0
echo "erltrace: installing Debian packages, for the live page: ${page[*]}" \
	'(go without: make ... WEB=)'
fetch "${page[@]}" && exit 0
for p in "${page[@]}"; do # then one by one: what can be had
	fetch "$p" || echo "erltrace: no package $p to be had: what needs it of the live page is left out"
done
exit 0
