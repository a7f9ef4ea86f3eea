#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# An Erlang VM with its native probes: the distribution's source of the installed OTP, configured
# with --with-dynamic-trace=systemtap. Only the emulator is built (10 minutes on two CPUs);
# its libraries are those of the installed package. Tests and benches that compare with native
# probes look for it; nothing else needs it.
#
#	tools/usdt-otp.sh [FOLDER]      default: $USDT_OTP, or /var/tmp/erltrace-usdt-otp
#
# Afterwards FOLDER/erl starts it. Needs root once, for systemtap-sdt-dev, where that is missing;
# the package source is fetched by apt. JOBS=n: how many compilers at once.

set -eu
to=${1:-${USDT_OTP:-/var/tmp/erltrace-usdt-otp}}
version=$(dpkg-query -W -f '${source:Version}' erlang-base) || {
	echo 'usdt-otp: no package erlang-base: its libraries are what the VM runs with' >&2
	exit 1
}
if [ -x "$to/erl" ] && [ "$(cat "$to/version")" = "$version" ]; then
	echo "usdt-otp: $to/erl is there already"
	exit 0
fi
[ -e /usr/include/sys/sdt.h ] || apt-get install -y -q systemtap-sdt-dev
command -v xz >/dev/null || apt-get install -y -q xz-utils

# Sources, by lists of our own: the machine's stay as they are.
build=$to.build
mkdir -p "$build/lists/partial" "$to/bin"
cd "$build"
cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null | sed -n 's/^deb /deb-src /p' >src.list
for f in /etc/apt/sources.list.d/*.sources; do
	# shellcheck disable=SC2013 # suites are words
	[ ! -e "$f" ] || awk -v RS= '/(^|\n)Types:.*deb/' ORS='\n\n' "$f" | awk '
		/^URIs:/ { uri = $2 } /^Suites:/ { n = split($0, suite) } /^Components:/ { parts = substr($0, 13) }
		/^$/ { for (i = 2; i <= n; i++) print "deb-src", uri, suite[i], parts; n = 0 }' >>src.list
done
grep -E 'debian|ubuntu' src.list >os.list || true
apt=(-o "Dir::Etc::sourcelist=$PWD/os.list" -o Dir::Etc::sourceparts=/dev/null
	-o "Dir::State::lists=$PWD/lists" -o APT::Sandbox::User=root -q)
if ! ls ./*.orig.tar.* >/dev/null 2>&1; then
	apt-get "${apt[@]}" update
	apt-get "${apt[@]}" source --download-only "erlang=$version"
fi
rm -rf src
mkdir src
tar -xf ./*.orig.tar.* -C src --strip-components 1
cd src
export ERL_TOP=$PWD MAKEFLAGS=
without=()
for app in crypto ssl ssh wx odbc jinterface javac megaco debugger observer et; do
	without+=("--without-$app")
done
./configure --with-dynamic-trace=systemtap --enable-jit --without-termcap "${without[@]}" \
	>../configure.log 2>&1 || { tail -n 20 ../configure.log; exit 1; }
# -k: what it needs of the libraries it cannot build, and need not.
nice make -k -j "${JOBS:-2}" emulator >../make.log 2>&1 || true
if ! ls bin/*/beam.smp bin/*/erlexec >/dev/null 2>&1; then
	tail -n 30 ../make.log
	exit 1
fi

cp bin/*/beam.smp bin/*/erlexec bin/*/erl_child_setup bin/*/inet_gethost "$to/bin/"
root=$(erl -noshell -eval 'io:put_chars(code:root_dir()), halt().')
cat >"$to/erl" <<EOF
#!/bin/sh
ROOTDIR=$root BINDIR=$to/bin EMU=beam PROGNAME=erl
export ROOTDIR BINDIR EMU PROGNAME
exec "\$BINDIR/erlexec" "\$@"
EOF
chmod +x "$to/erl"
"$to/erl" -noshell -eval 'halt(case erlang:system_info(dynamic_trace) of systemtap -> 0; _ -> 1 end).' || {
	echo "usdt-otp: $to/erl does not run with its probes" >&2
	exit 1
}
echo "$version" >"$to/version"
rm -rf "$build/src"
echo "usdt-otp: $to/erl, $(readelf -n "$to/bin/beam.smp" | grep -c stapsdt) places of probes"
