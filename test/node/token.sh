#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Probes of the kernel for root of a user namespace, as in a container, by a BPF token: root of the machine has
# delegated a bpffs. What fires is in the namespace, and nothing else; without a token, or on a kernel without
# them, the error says what is missing. The last line is "N passed, N failed".

# shellcheck disable=SC2016 # $target is D's
# shellcheck source=test/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
export LC_ALL=C
cd "$tmp" || exit 1
children=()
trap '{ kill -9 "${children[@]}"; wait; } 2>/dev/null; cd /; rm -rf "$tmp"' EXIT
skip() { echo "skipped: $1"; finish; }
[ "$(id -u)" = 0 ] || skip 'only root can delegate a bpffs'
command -v erl >/dev/null || skip 'no Erlang here'
[ -x "$root/priv/erltrace-kernel" ] || skip 'built without the kernel engine'
${CC:-cc} -o bpf_token "$root/test/node/bpf_token.c" 2>e || skip "no C compiler here, or old headers: $(head -1 e)"
chmod 755 "$tmp"
mkdir tree home bpffs && chmod 1777 home
cp -r "$root/ebin" "$root/priv" tree/ && chmod -R a+rX tree
cp "$(command -v dd)" token_dd
cp token_dd outer_dd

# Runs SCRIPT while DO is done; a line for each thing gathered, or the error.
cat >run.erl <<'ERL'
-module(run).
-export([main/0]).
main() ->
    case erltrace:script(os:getenv("SCRIPT")) of
        {ok, H} ->
            ok = file:write_file(os:getenv("HOME") ++ "/on", ""),
            _ = os:cmd(os:getenv("DO", "true")),
            show(erltrace:walk(H)),
            erltrace:stop(H),
            show(erltrace:consume(H)),
            erltrace:close(H),
            io:format("done.~n");
        Error ->
            io:format("~0p.~n~ts~n", [Error, erltrace:format_error(Error)])
    end.
show({ok, Items}) -> [io:format("~0p.~n", [I]) || I <- Items];
show(_) -> ok.
ERL
erlc run.erl || exit 1
contained() { # folder of the bpffs, what is done meanwhile, script
	rm -f home/on
	DO=$2 SCRIPT=$3 HOME=$tmp/home ERLTRACE_BPF_TOKEN=$tmp/bpffs timeout 100 ./bpf_token "$1" \
		erl -noshell -pa "$tmp/tree/ebin" "$tmp" -s run main -s init stop >o 2>&1
}
writes() { echo "$tmp/$1 if=/dev/zero of=/dev/null bs=1 count=$2 status=none"; }
meanwhile() { # as root of the machine, once the script is armed
	while [ ! -e home/on ]; do sleep 0.02; done
	eval "$1"
}

contained - true 'syscall::write:entry { @ = count(); }'
[ $? = 77 ] && skip "no user namespaces here: $(tail -1 o)"
has 'without a token' 'ET_PERMISSION'
has 'says what is missing' 'need root in the initial user namespace.* they need a BPF token .*delegate_cmds'
contained "$tmp/bpffs" "$(writes token_dd 3000)" 'syscall::write:entry /execname == "token_dd"/ { @[arg2] = count(); }'
if [ $? = 77 ] || ! grep -q '^done' o; then
	skip "no BPF tokens here: $(tail -1 o)"
fi
has 'with one: exact counts' '^\{count,\[1\],3000\}'

meanwhile "$(writes outer_dd 20000)" &
children+=($!) && disown
contained "$tmp/bpffs" "$(writes token_dd 20000); sleep 0.5" 'syscall:::entry, syscall:::return, sched:::off-cpu, proc::: { @[execname] = count(); }'
has 'what is in the namespace' '^\{count,\["token_dd"\],[0-9]{5,}\}'
hasnt 'nothing of outside' '"outer_dd"|"bash"'
contained "$tmp/bpffs" "$(writes token_dd 10)" 'syscall::write:entry /execname == "token_dd"/ { trace(*(uint64_t *)curthread); } ERROR { @e[arg4] = count(); }'
hasnt 'no memory of the kernel' '^\{probe,'
has 'a fault instead' '^\{count,\[6\],10\}'
contained "$tmp/bpffs" true 'pid$target:libc.so.6:getenv:entry { @ = count(); }'
has 'functions of the node' '^done'
contained "$tmp/bpffs" true 'profile-97 { @[execname] = count(); } syscall::read:entry { n++; }'
has 'samples of CPUs: an error, of which a token is not the remedy' 'error,\{dtrace,<<"ET_(PERMISSION|SAMPLES|KERNEL)">>'
contained "$tmp/bpffs" true '#pragma D option destructive
	syscall::write:entry { raise(9); }'
has 'destructive actions: refused' 'error,\{dtrace,<<"ET_DESTRUCTIVE">>'
sleep 100 &
children+=($!) && disown
contained "$tmp/bpffs" true "pid$!:libc.so.6:nanosleep:entry { }"
has 'functions of a process outside' 'error,\{dtrace'
is 'nothing is left' '' "$(pgrep -x erltrace-kernel -u 100000)"
finish
