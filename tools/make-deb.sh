#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Debian packages of this tree, in build/deb: what git knows of it, and the live page, which is
# built beforehand where npm is, because a package's own build has no network.
#
#	tools/make-deb.sh [FOLDER]

set -euo pipefail
cd "$(dirname "$0")/.."
out=${1:-build/deb}
version=$(sed -n '1s/.*(\(.*\)).*/\1/p' debian/changelog)
if [[ $version != "$(make -s print-version)" ]]; then
	echo "erltrace: debian/changelog says $version, include/erltrace.h $(make -s print-version)" >&2
	exit 1
fi
rm -rf "$out"
mkdir -p "$out/erltrace-$version"
git ls-files -z | tar -c --null -T - | tar -x -C "$out/erltrace-$version"
if [[ -e web/dist/index.html ]]; then
	mkdir -p "$out/erltrace-$version/web/dist"
	cp web/dist/* "$out/erltrace-$version/web/dist/"
fi
log=$(realpath "$out")/build.log
echo "erltrace: building packages (what it says: $log)"
if ! (cd "$out/erltrace-$version" && dpkg-buildpackage -b -us -uc) >"$log" 2>&1; then
	tail -n 20 "$log" >&2
	exit 1
fi
rm -rf "$out/erltrace-$version"
ls -sh1 "$out"/*.deb
