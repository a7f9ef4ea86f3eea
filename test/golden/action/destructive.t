# every destructive action needs -w
$ for a in 'breakpoint()' 'chill(1)' 'freopen("x")' 'panic()' 'raise(0)' 'stop()' 'system("true")' 'copyoutstr("a", 0, 1)' 'copyout("a", 0, 1)'; do erltrace -qn "BEGIN { $a; exit(0); }" >/dev/null 2>err && echo "ran: $a"; grep -c 'could not enable tracing.*[Dd]estructive' err; done | sort | uniq -c | tr -s ' '
>  9 1
# with a predicate that is never true it is refused all the same
$ erltrace -qn 'BEGIN /0/ { system("echo no"); }'
!~ ^erltrace: could not enable tracing: .*destructive
? 1
# -w, -xdestructive, #pragma D option destructive permit them
$ erltrace -wqn 'BEGIN { system("echo yes"); exit(0); }'
> yes
>
$ erltrace -q -xdestructive -n 'BEGIN { system("echo yes"); exit(0); }'
> yes
>
< w.d
| #pragma D option quiet
| #pragma D option destructive
| BEGIN { system("echo yes"); exit(0); }
$ erltrace -s w.d
> yes
>
# setopt() cannot
$ erltrace -qn 'BEGIN { setopt("destructive"); exit(0); }'
>
!~ couldn't set option "destructive" to "1": .*cannot change
# compiling only is harmless
$ erltrace -e -qn 'BEGIN { system("true"); }'
# panic() and breakpoint() would harm who is traced: refused even with -w
$ erltrace -wqn 'BEGIN { panic(); printf("no\n"); } BEGIN { exit(0); }'
>
!~ ^erltrace: .*dtrace:::BEGIN.*: illegal operation
$ erltrace -wqn 'BEGIN { breakpoint(); printf("no\n"); } BEGIN { exit(0); }'
>
!~ ^erltrace: .*dtrace:::BEGIN.*: illegal operation
# chill() up to half a second in a second

$ erltrace -wqn 'BEGIN { chill(1000); printf("ok\n"); exit(0); }'
> ok
>

$ erltrace -wqn 'BEGIN { this->t = walltimestamp; chill(20000000); } BEGIN { exit(0); }'
>

$ erltrace -wqn 'BEGIN { chill(500000001); printf("no\n"); } BEGIN { exit(0); }'
>
!~ ^erltrace: .*dtrace:::BEGIN.*: illegal operation
$ erltrace -wqn 'BEGIN { chill(-1); printf("no\n"); } BEGIN { exit(0); }'
>
!~ ^erltrace: .*dtrace:::BEGIN.*: illegal operation
# raise() signals who fired: here the command itself, which ends in order at SIGTERM
$ erltrace -wqn 'BEGIN { raise(15); } END { printf("end\n"); }'
>
> end
>
$ erltrace -wqn 'BEGIN { raise(0); printf("alive\n"); exit(0); }'
> alive
>
