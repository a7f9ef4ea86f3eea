#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# What make test installs on a machine that lacks bpftrace and bpftool, by an apt-get that only
# writes down what it is asked for. The last line is "N passed, N failed".

# shellcheck source=test/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
trap 'rm -rf "$tmp"' EXIT
if ! unshare -m true 2>/dev/null; then
	echo 'skipped: hiding programs takes root'
	finish
fi
mkdir "$tmp/bin"
cat >"$tmp/bin/apt-get" <<'X'
#!/bin/bash
echo "$*" >>"$LOG"
exit "$STATUS"
X
chmod +x "$tmp/bin/apt-get"

deps() { # what apt-get gives
	: >"$tmp/log"
	# shellcheck disable=SC2016 # for the other shell
	LOG=$tmp/log STATUS=$1 PATH=$tmp/bin:$PATH WEB='' unshare -m bash -c '
		for f in {,/usr}{/bin,/sbin}/{bpftrace,bpftool}; do
			[[ ! -e $f ]] || mount --bind /dev/null "$f" || exit 1
		done
		exec tools/install-deps.sh test' >"$tmp/out" 2>&1
}
cd "$root" || exit 1
deps 0
is 'it ends well' 0 $?
for tool in bpftrace bpftool; do
	is "$tool is installed" 1 "$(grep -cE "^install .* $tool\$" "$tmp/log")"
done
deps 1
is 'without them it ends well too' 0 $?
for tool in bpftrace bpftool; do
	is "which is said: $tool" 1 "$(grep -c "no package $tool to be had: tests that need it are skipped" "$tmp/out")"
done
finish
