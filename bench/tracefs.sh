# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
#
# Sourced by what runs bpftrace, which needs tracefs: where that is not mounted, the script begins
# anew with a mount of it that is there for its processes alone.

if [[ $EUID == 0 && -z ${KERNEL_BENCH-} && ! -d /sys/kernel/tracing/events ]]; then
	export KERNEL_BENCH=1
	mount='mount -t tracefs none /sys/kernel/tracing'
	# shellcheck disable=SC2016 # they are that shell's
	unshare -m sh -c "$mount" 2>/dev/null &&
		exec unshare -m sh -c "$mount"'; exec "$0" "$@"' "$0" "$@"
fi
