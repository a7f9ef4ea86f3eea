# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# For tools that show what a user without rights can do: sourced, not run, before anything else. As root
# the tool starts itself once more as nobody, with the same arguments and environment.

if [ "$(id -u)" = 0 ]; then
	scratch=$(mktemp -d)
	chown nobody "$scratch"
	setpriv --reuid nobody --regid nogroup --clear-groups --inh-caps=-all --bounding-set=-all \
		env -u XDG_RUNTIME_DIR TMPDIR="$scratch" "$0" "$@"
	code=$?
	rm -rf "$scratch"
	exit $code
fi
