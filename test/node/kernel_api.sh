#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
#
# Who may trace the kernel through the Erlang API: a user without privilege is told the one command
# that helps; with the helper's capabilities this user traces their own processes, and reads nothing
# else, whatever the script: the rows of SECURITY.md. And nothing of a helper is left in the kernel
# when its node, its owner or itself is killed. The last line is "N passed, N failed".

# shellcheck disable=SC2016 # $target and the like are D's
# shellcheck source=test/lib/checks.sh
. "$(dirname "$0")/../lib/checks.sh"
export LC_ALL=C
cd "$tmp" || exit 1
children=()
trap '{ kill -9 "${children[@]}"; wait; } 2>/dev/null; cd /; rm -rf "$tmp"' EXIT
skip() { echo "skipped: $1"; finish; }
[ "$(id -u)" = 0 ] || skip 'only root can become others, and give capabilities'
command -v erl >/dev/null || skip 'no Erlang here'
[ -x "$root/priv/erltrace-kernel" ] || skip 'built without the kernel engine'
command -v setcap >/dev/null || skip 'no setcap here'
chmod 755 "$tmp"
mkdir tree home && chmod 1777 home
cp -r "$root/ebin" "$root/priv" tree/ && chmod -R a+rX tree
helper=$tmp/tree/priv/erltrace-kernel
uid=54321
as() { setpriv --reuid=$uid --regid=$uid --clear-groups env HOME="$tmp/home" "$@"; }
as test -x "$helper" || skip 'another user may not read the temporary folder'

# Runs SCRIPT while DO is done by a shell; prints the error, or what is gathered, a term a line.
cat >run.erl <<'ERL'
-module(run).
-export([main/0, stay/0, owner/0]).
main() ->
    {ok, H} = erltrace:open(),
    _ = [io:format("~0p.~n", [E]) || {error, _} = E <- [erltrace:setopt(H, N, "") || N <- options()]],
    case begun(H) of
        ok ->
            _ = os:cmd(os:getenv("DO", "true")),
            show(erltrace:walk(H)),
            erltrace:stop(H),
            show(erltrace:consume(H)),
            show(erltrace:walk(H)),
            io:format("done.~n");
        Error ->
            io:format("~0p.~n~ts~n", [Error, erltrace:format_error(Error)]),
            io:format("after it: ~0p.~n", [erltrace:setopt(H, "aggrate", "1s")])
    end,
    erltrace:close(H).
options() -> string:lexemes(os:getenv("OPTIONS", ""), " ").
begun(H) ->
    case erltrace:compile(H, os:getenv("SCRIPT")) of
        ok -> erltrace:go(H);
        Error -> Error
    end.
show({ok, Items}) -> [io:format("~0p.~n", [I]) || I <- Items];
show(_) -> ok.
%% It stays until it is killed.
stay() ->
    {ok, H} = erltrace:open(),
    ok = begun(H),
    io:format("on~n"),
    receive never -> ok end.
%% Its process ends, the node stays.
owner() ->
    Self = self(),
    Pid = spawn(fun() -> {ok, H} = erltrace:open(), ok = begun(H), Self ! on, receive never -> H end end),
    receive on -> io:format("on~n") end,
    receive after 500 -> ok end,
    exit(Pid, kill),
    io:format("killed~n"),
    receive never -> ok end.
ERL
erlc run.erl
erlang() { erl -noshell -pa "$tmp/tree/ebin" "$tmp" -s run "$1" -s init stop; }
node() { # what is done meanwhile, then the script; its result is in o
	DO=$1 SCRIPT=$2 as erl -noshell -pa "$tmp/tree/ebin" "$tmp" -s run main -s init stop >o 2>&1
}
roots() { DO=$1 SCRIPT=$2 erlang main >o 2>&1; }

roots true 'syscall::getpid:entry { }'
grep -q '^done' o || skip "no probes of the kernel here: $(tail -1 o)"

# Programs with names of their own, of which there are several.
cp "$(command -v dd)" mine_dd
cp mine_dd suid_dd && chmod 4755 suid_dd
cp mine_dd sgid_dd && chmod 2755 sgid_dd
cp mine_dd caps_dd && setcap cap_dac_read_search=ep caps_dd
echo 'secret=hunter2' >secret && chmod 600 secret
writes() { echo "$tmp/${2:-mine_dd} if=/dev/zero of=/dev/null bs=1 count=$1 status=none"; }

# ---- without privilege ---------------------------------------------------------------------------
node true 'syscall::read:entry { }'
has 'without privilege: says what is missing' 'ET_PERMISSION.*need root, or a helper with the capabilities'
grant=$(sed -n 's/.*: sudo \(setcap [^ ]* [^ ]*\) \[ET_PERM.*/\1/p' o)
is 'the one command that helps' "setcap cap_bpf,cap_perfmon=ep $helper" "$grant"
node true 'BEGIN { trace("hi"); }'
has 'what needs no privilege works' '"hi"'
node true 'syscall::read:entry { cuont(); }'
has 'errors of a script need none' 'D_FUNC_UNDEF'
eval "$grant" || skip 'capabilities cannot be set here'
node "$(writes 3000)" 'syscall::write:entry /execname == "mine_dd"/ { @[uid] = count(); }'
has 'with it: exact counts' "^\{count,\[$uid\],3000\}"
DO=true SCRIPT='syscall::read:entry { }' as setpriv --no-new-privs erl -noshell -pa "$tmp/tree/ebin" "$tmp" \
	-s run main -s init stop >o 2>&1
has 'no_new_privs: says why capabilities have no effect' 'ET_PERMISSION.*no_new_privs'
DO=true SCRIPT='syscall::read:entry { }' setpriv --reuid=$uid --regid=$uid --clear-groups --bounding-set=-all \
	env HOME="$tmp/home" erl -noshell -pa tree/ebin "$tmp" -s run main -s init stop >o 2>&1
has 'no bounding set: the same' 'ET_PERMISSION.*CapBnd'
chmod 700 "$helper"
node true 'syscall::read:entry { }'
has 'not executable for this user: says so' 'ET_PERMISSION.*may not run .*erltrace-kernel'
chmod 755 "$helper"
mv "$helper" away
node true 'syscall::read:entry { }'
has 'built without the kernel: says so' 'ET_KERNEL.*built without probes of the kernel'
mv away "$helper"
setcap cap_bpf,cap_perfmon=ep "$helper"
chmod 4755 "$helper" # setcap's attribute stays
node true 'syscall::read:entry { }'
has 'a helper that is set-user-ID: not run' 'ET_PERMISSION.*may not be set-user-ID'
chmod 755 "$helper"

# ---- confined: whose processes -------------------------------------------------------------------
# Commands of root and of the user at the same time, while the user traces.
together() { # of root, of the user, script
	cat >both <<-SH
		#!/bin/sh
		: >go
		while [ ! -e rooted ]; do sleep 0.02; done
		$2
	SH
	chmod 755 both
	rm -f go rooted
	(cd home && rm -f go rooted)
	(
		while [ ! -e "$tmp/home/go" ]; do sleep 0.02; done
		eval "$1"
		: >"$tmp/home/rooted"
	) &
	children+=($!)
	node "cd $tmp/home && $tmp/both" "$3"
}
together "$(writes 500)" "$(writes 700)" 'syscall::write:entry /execname == "mine_dd"/ { @[uid, pid == 0] = count(); }'
has 'system calls: those of the user' "^\{count,\[$uid,0\],700\}"
hasnt 'system calls: none of root' '^\{count,\[0,'
together "$(writes 20000)" "$(writes 20)" \
	'syscall:::entry, syscall:::return, profile-997, sched:::, proc:::, fsinfo::: { @[uid] = count(); }'
has 'every provider: the user' "^\{count,\[$uid\],"
hasnt 'every provider: nobody else' "^\{count,\[([0-9]{1,4}|[0-46-9][0-9]*)\],"

# The secret is read by a program of root's, of other identities that the user may take.
steal='syscall::read:entry { self->b = arg1; } syscall::read:return /self->b && arg0 > 0/
	{ printf("%s %s", execname, copyinstr(self->b, 40)); self->b = 0; }'
together "cat secret >/dev/null" true "$steal"
hasnt 'memory of a process of root' hunter2
node "$tmp/mine_dd if=$tmp/run.erl of=/dev/null status=none" "$steal"
has 'the same script reads memory of the user' 'mine_dd.*-module'
node "$tmp/suid_dd if=$tmp/secret of=/dev/null status=none" "$steal"
hasnt 'memory of a set-user-ID program that the user runs' hunter2
chgrp 1 secret && chmod 640 secret && chgrp 1 sgid_dd && chmod 2755 sgid_dd
node "$tmp/sgid_dd if=$tmp/secret of=/dev/null status=none" "$steal"
hasnt 'memory of a set-group-ID program' hunter2
chmod 600 secret
node "$tmp/caps_dd if=$tmp/secret of=/dev/null status=none" "$steal"
hasnt 'memory of a program with capabilities' hunter2
chmod 644 secret
node "$tmp/suid_dd if=$tmp/secret of=/dev/null status=none" 'syscall::read:return { @[execname] = count(); }'
hasnt 'a set-user-ID program is not seen at all' suid_dd
cat >hide.c <<'C'
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
int main(void)
{
	static char secret[64] = "hunter2";
	prctl(PR_SET_DUMPABLE, 0);
	return write(open("/dev/null", 1), secret, sizeof(secret)) < 0;
}
C
sed -i '1i #include <fcntl.h>' hide.c
if ${CC:-cc} -o hide hide.c 2>/dev/null; then
	node "$tmp/hide" 'syscall::write:entry { printf("%s %s", execname, copyinstr(arg1)); }'
	hasnt 'a process that has hidden itself (PR_SET_DUMPABLE)' hunter2
fi
sleep 60 &
victim=$!
children+=("$victim")
for d in "pid$victim:libc.so.6:nanosleep:entry" "pid$victim:a.out:main:entry" "nosuch$victim:::"; do
	node true "$d { }"
	has "functions of another user's process: $d" 'error,\{dtrace'
done
node true 'pid$target:libc.so.6:getenv:entry { @ = count(); }'
has 'functions of the own process' '^done'

DO=true SCRIPT='erlang*:lists:seq/2:function-entry { @f[copyinstr(arg1)] = count(); }
	syscall:::entry /erlpid != ""/ { @p = count(); }' as erl -noshell -pa "$tmp/tree/ebin" "$tmp" -eval '
	{ok, H} = erltrace:script(os:getenv("SCRIPT")), [lists:seq(1, I) || I <- lists:seq(1, 99)],
	{ok, A} = erltrace:walk(H), io:format("~p~n", [lists:keyfind(["lists:seq/2"], 2, A)]), halt().' >o 2>&1
has 'with probes of the own node' '^\{count,\["lists:seq/2"\],100\}'

# ---- confined: memory of the kernel --------------------------------------------------------------
kernel() { # name, an expression that would show it, at a system call of the user
	node 'ls / >/dev/null' "syscall::write:entry { trace($2); } ERROR { @e[arg4] = count(); }"
	hasnt "$1: no value" '^\{probe,\{"syscall"'
	has "$1: a fault" '^\{count,\[6\],' # invalid kernel access
}
kernel 'a pointer' '*(uint64_t *)curthread'
kernel 'a byte' '*((char *)curthread + 8)'
kernel 'a string' 'stringof((char *)curthread)'
kernel 'a member' '((struct { int a; int b; } *)curthread)->b'
kernel 'a member, by the kernel'"'"'s own types' 'curthread->pid'
kernel 'text in a structure, by the same' 'stringof(curthread->mm->exe_file->f_path.dentry->d_name.name)'
node true 'syscall::write:entry { trace(&`vfs_read); }'
has 'symbols of the kernel: refused' 'own processes'
node true 'rawtp:::sched_switch { @ = count(); }'
has 'tracepoints: refused' 'own processes'
has 'the helper survives what it has refused' '^after it: ok'
node true 'syscall::getpid:entry { } profile-997 { @ = count(); } profile-1999 { @a = count(); }'
has 'more samples than others should pay for: refused' 'at most 2000 samples a second'
node 'ls / >/dev/null' 'syscall::write:entry { trace(copyin(curthread, 8)); trace(copyinstr(curthread)); }'
hasnt 'copyin() of the kernel: no value' '^\{probe,'
node 'ls / >/dev/null' 'syscall::write:entry { tracemem(curthread, 64); } syscall::write:entry
	{ this->p = (char *)alloca(64); bcopy((void *)curthread, this->p, 64); trace(*this->p); }'
hasnt 'tracemem(), bcopy() of the kernel: no value' '^\{probe,'
# D's library asks of threads and files by their addresses, which a clause may make up.
node 'ls / >/dev/null' 'syscall::write:entry { @[thread_pid((kthread_t *)((uint64_t)curthread + 64)), thread_uid((kthread_t *)((uint64_t)curthread + 64)),
	thread_comm((kthread_t *)((uint64_t)curthread + 8)), file_path((file_t *)((uint64_t)curthread + 8)), file_flags((file_t *)curthread),
	file_offset((file_t *)curthread)] = count(); }'
has 'threads and files that are made up: nothing' '^\{count,\[0,0,\[\],\[\],0,0\],'
node 'ls / >/dev/null' 'syscall::write:entry { @[curpsinfo->pr_uid, curpsinfo->pr_pid == pid, fds[0].fi_fs != "", curpsinfo->pr_fname == execname] = count(); }'
has 'those of the thread that fires: all' "^\{count,\[$uid,1,1,1\],"
# A file that is closed while a clause reads it, and whose memory is that of another user's file at once.
cat >reused.c <<'C'
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
static void *flip(void *arg)
{
	for (;;) {
		int f = open("/dev/null", O_RDONLY);
		if (f != 50)
			dup2(f, 50), close(f);
		usleep(20);
		close(50);
		usleep(30);
	}
	return arg;
}
int main(int argc, char **argv) /* reused SECONDS [FILE]: opens that */
{
	time_t end = time(NULL) + atoi(argv[1]);
	pthread_t thread;
	if (argc < 3)
		pthread_create(&thread, NULL, flip, NULL);
	while (time(NULL) < end)
		if (argc < 3)
			(void)!write(-1, "a", 1);
		else
			close(open(argv[2], O_RDWR | O_CREAT, 0600));
}
C
mkdir hidden && chmod 700 hidden
if ${CC:-cc} -o reused reused.c -lpthread 2>/dev/null; then
	./reused 5 "$tmp/hidden/hunter2" &
	children+=("$!")
	node "$tmp/reused 4" 'syscall::write:entry /execname == "reused"/ { this->f = thread_file(curthread, 50);
		this->s = strjoin(strjoin(strjoin(copyinstr(arg1), "x"), "y"), "z");
		@[file_path(this->f)] = count(); @d[fds[50].fi_pathname] = count(); }'
	has 'the files of the process itself: seen' '/dev/null'
	hasnt "another user's file where one of its own was" hunter2
fi
together "$(writes 20000)" "$(writes 20000)" 'sched:::off-cpu { @[args[1]->pr_uid, args[1]->pr_fname] = count(); }'
hasnt 'threads of others that events are about' "^\{count,\[([1-9][0-9]{0,3}|[0-46-9][0-9]+),|^\{count,\[0,\[[^]]"
node "$(writes 200000)" 'profile-997 { @[arg0] = count(); @s[stack()] = count(); } sched:::off-cpu { @o[stackdepth, caller] = count(); }'
hasnt 'addresses of code of the kernel' '^\{count,\[(1[0-9]{19}|\[")'
together "$(writes 200000)" "$(writes 200000)" 'sched:::on-cpu { trace(copyinstr(0x400000)); trace(*(int *)0x400000); } ERROR { @[arg4] = count(); }'
hasnt 'at on-cpu the memory of the thread that leaves: no value' '^\{probe,'

# ---- confined: what acts -------------------------------------------------------------------------
for action in 'raise(9)' 'stop()' 'copyoutstr("x", arg1, 2)' 'system("id")' 'chill(1000)' 'freopen("/tmp/x")'; do
	node true "#pragma D option destructive
		syscall::write:entry { $action; }"
	has "$action: refused" 'error,\{dtrace'
done
DTRACE_OPT_DESTRUCTIVE=1 OPTIONS='destructive' node true 'syscall::write:entry { raise(9); }'
has 'whatever the environment and the options say' 'error,\{dtrace'

mkdir roots && chmod 755 roots
cat >record.erl <<'ERL'
-module(record).
-export([main/0]).
main() ->
    {ok, H} = erltrace:open(),
    ok = erltrace:setopt(H, "snapshotdir", os:getenv("TO")),
    ok = erltrace:compile(H, "#pragma D option bufpolicy=ring\nsyscall::write:entry { trace(arg2); }"),
    ok = erltrace:go(H),
    _ = os:cmd("ls /"),
    io:format("~0p~n", [erltrace:snapshot(H, "why")]),
    erltrace:close(H).
ERL
erlc record.erl
TO=$tmp/home as erl -noshell -pa tree/ebin "$tmp" -s record main -s init stop >o 2>&1
has 'a snapshot in a folder of the user' '^\{ok,\['
is 'it is theirs' $uid "$(stat -c %u home/*why*.txt)"
TO=$tmp/roots as erl -noshell -pa tree/ebin "$tmp" -s record main -s init stop >o 2>&1
has 'a snapshot in a folder of root' "^\{error,.*ermission denied"
is 'nothing is written there' '' "$(ls roots)"

# ---- the helper itself ---------------------------------------------------------------------------
stay() { # by whom, what; its node is $node, its helper $helper_pid
	rm -f o
	SCRIPT='syscall:::entry { @[execname] = count(); } profile-97 { @p = count(); } tick-1s { n++; }
		pid$target:libc.so.6:getenv:entry { @g = count(); }' "${@:2}" >o 2>&1 &
	node=$!
	children+=("$node")
	holds o '^on' || cat o
	helper_pid=$(pgrep -P "$(pgrep -P "$node" erl_child_setup)" erltrace-kernel)
}
user_erl=(setpriv "--reuid=$uid" "--regid=$uid" --clear-groups env HOME="$tmp/home" erl -noshell -pa "$tmp/tree/ebin" "$tmp" -s run)
stay user "${user_erl[@]}" stay
is 'its memory is not readable' no "$(as sh -c "dd if=/proc/$helper_pid/mem of=/dev/null count=1 2>/dev/null && echo yes || echo no")"
is 'nor are its descriptors' no "$(as sh -c "ls /proc/$helper_pid/fd >/dev/null 2>&1 && echo yes || echo no")"
is 'of capabilities it has these two' "$(printf '%016x' $((1 << 39 | 1 << 38)))" \
	"$(sed -n 's/^CapPrm:[[:space:]]*//p' /proc/"$helper_pid"/status)"

# ---- nothing is left -----------------------------------------------------------------------------
ours() { sed -n 's/^\(prog\|map\|link\|btf\)_id:[[:space:]]*/\1 /p' /proc/"$1"/fdinfo/* 2>/dev/null | sort -u; }
ended() { ! grep -qv '^State:.*Z' <(grep '^State:' /proc/"$1"/status 2>/dev/null); } # or nobody has waited for it yet
left() { # kinds and ids on stdin: which are there still after a second
	local kind id end=$(($(date +%s%N) + 1500000000))
	while read -r kind id; do
		while bpftool "$kind" show id "$id" >/dev/null 2>&1 && (($(date +%s%N) < end)); do sleep 0.02; done
		bpftool "$kind" show id "$id" >/dev/null 2>&1 && echo "$kind $id"
	done
}
if bpftool prog show >/dev/null 2>&1; then
	killed() { # name, then what kills
		local name=$1
		ours "$helper_pid" >had
		ok "$1: it has something in the kernel" test -s had
		shift
		"$@" 2>/dev/null
		is "$name: nothing is left" '' "$(left <had | tr '\n' ' ')"
		ok "$name: the helper has ended" ended "$helper_pid"
		kill -9 "$node" 2>/dev/null
		wait "$node" 2>/dev/null
	}
	for who in root user; do
		erl=("${user_erl[@]}")
		[ $who = root ] && erl=(erl -noshell -pa "$tmp/tree/ebin" "$tmp" -s run)
		[ $who = root ] && stay root "${erl[@]}" stay # the user's runs already
		killed "$who: kill -9 of the node" kill -9 "$node"
		stay $who "${erl[@]}" stay
		killed "$who: kill -9 of the helper" kill -9 "$helper_pid"
		stay $who "${erl[@]}" stay
		kill -STOP "$helper_pid"
		killed "$who: kill -9 of the node while the helper is stopped" kill -9 "$node"
		stay $who "${erl[@]}" owner
		ours "$helper_pid" >had
		holds o '^killed'
		is "$who: the owner's process is killed: nothing is left" '' "$(left <had | tr '\n' ' ')"
		ok "$who: and the helper has ended" ended "$helper_pid"
		kill -9 "$node" && wait "$node" 2>/dev/null
		stay $who "${erl[@]}" stay # for the next user
		if [ $who = user ]; then kill -9 "$node"; wait "$node" 2>/dev/null; fi
	done
else
	echo 'skipped: no bpftool here that shows what is in the kernel'
fi

# ---- the administrator's file --------------------------------------------------------------------
conf() { # text, owner and mode of the file; what a user then sees of root's writes
	mkdir -p etc && chmod 755 etc && chown 0 etc
	printf '%b' "$1" >etc/kernel.conf && chown "${2:-0:0}" etc/kernel.conf && chmod "${3:-644}" etc/kernel.conf
	cat >inside <<-SH
		mkdir -p /etc/erltrace && mount --bind $tmp/etc /etc/erltrace || exit 9
		exec setpriv --reuid=$uid --regid=$uid --groups ${4:-$uid} env HOME=$tmp/home DO='$(writes 1)' \
			SCRIPT='syscall::write:entry { @[uid == 0] = count(); }' \
			erl -noshell -pa $tmp/tree/ebin $tmp -s run main -s init stop
	SH
	(while [ -e inside ]; do eval "$(writes 1000)"; done) &
	children+=($!)
	unshare -m --propagation private bash ./inside >o 2>&1
	rm -f inside
	grep -q '^done' o && { grep -q '^{count,\[1\]' o && echo others || echo own; }
}
made=$([ -d /etc/erltrace ] || echo yes)
is 'no file' own "$(conf '' 0:0 600)"
if grep -q '^done' o; then
	is 'trace-others' others "$(conf '# who may\ntrace-others = yes\n')"
	is 'trace-others = no' own "$(conf 'trace-others = no\n')"
	is 'a group of the user' others "$(conf 'trace-others = yes\ngroups = adm, daemon\n' 0:0 644 1)"
	is 'not a group of the user' own "$(conf 'trace-others = yes\ngroups = adm, daemon\n')"
	is 'a line that is not understood' own "$(conf 'trace-others = yes\ngroup = nobody\n')"
	is "a file of the user's" own "$(conf 'trace-others = yes\n' $uid:$uid)"
	is 'a file that others can write' own "$(conf 'trace-others = yes\n' 0:0 666)"
else
	echo "skipped: the administrator's file: no mount namespace here"
fi
[ "$made" = yes ] && rmdir /etc/erltrace 2>/dev/null
finish
