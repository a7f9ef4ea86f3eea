#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Installs what `make demo` or `make test` needs and this machine lacks, from Debian's packages,
# as root or by sudo, and says what. Nothing missing: nothing is said or done.
#
#	tools/install-deps.sh demo|test

set -u

need=()
want() { # package, then a command that succeeds if it is there
	local package=$1
	shift
	"$@" >/dev/null 2>&1 || need+=("$package")
}

has_fuzzer() { # clang's run-time libraries: the sanitizers and libFuzzer
	local lib
	lib=$(clang -print-file-name="libclang_rt.fuzzer-$(uname -m).a") && [[ -e $lib ]]
}

# Erlang's packages: where erl is another's than Debian's, those are not mixed in.
erlang=1
command -v erl >/dev/null && [[ $(realpath "$(command -v erl)") != /usr/lib/erlang/* ]] && erlang=0
want_otp() { # package, a file that it brings, below /usr/lib/erlang (a pattern)
	((erlang)) && want "$1" compgen -G "/usr/lib/erlang/$2"
}

want gcc command -v "${CC:-gcc}"
want libc6-dev test -e /usr/include/stdio.h
want pkg-config command -v pkg-config
want libwebsockets-dev test -e /usr/include/libwebsockets.h
want libjansson-dev test -e /usr/include/jansson.h
want libcap-dev test -e /usr/include/sys/capability.h # libwebsockets' header needs it
want_otp erlang-base bin/erl
want_otp erlang-dev usr/include/erl_nif.h
want_otp erlang-runtime-tools 'lib/runtime_tools-*/ebin/dyntrace.beam'
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
fi

((${#need[@]})) || exit 0

if ! command -v apt-get >/dev/null; then
	echo "erltrace: please install what these Debian packages hold: ${need[*]}" >&2
	exit 1
fi
root=()
if ((EUID != 0)); then
	if ! command -v sudo >/dev/null; then
		echo "erltrace: not root and no sudo; please install: ${need[*]}" >&2
		exit 1
	fi
	root=(sudo)
fi

install() {
	"${root[@]}" env DEBIAN_FRONTEND=noninteractive \
		apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

echo "erltrace: installing Debian packages: ${need[*]}"
install "${need[@]}" && exit 0
"${root[@]}" apt-get update -qq # an old list of packages is the usual reason
install "${need[@]}" && exit 0

# Some releases have the run-time libraries only by their version.
for i in "${!need[@]}"; do
	[[ ${need[i]} == libclang-rt-dev ]] && unset 'need[i]'
done
((${#need[@]} == 0)) || install "${need[@]}" || exit 1
has_fuzzer && exit 0
version=$(clang -dumpversion | cut -d. -f1)
install "libclang-rt-$version-dev"
