# the process, as seen by BEGIN: erltrace itself

$ erltrace -qn 'BEGIN { printf("%d %d %d %d %s\n", pid == $pid, ppid == $ppid, uid == $uid, gid == $gid, execname); exit(0); }'
> 1 1 1 1 erltrace
>

# the probe
$ erltrace -qn 'BEGIN { printf("%s:%s:%s:%s %d %d\n", probeprov, probemod, probefunc, probename, id, epid > 0); exit(0); }'
> dtrace:::BEGIN 1 1
>
# each clause has its own epid
$ erltrace -qn 'BEGIN { e = epid; } BEGIN { printf("%d %d\n", epid != e, sizeof (epid)); exit(0); }'
> 1 4
>
# timestamp: one for a firing, never backwards; vtimestamp is not more than it
$ erltrace -qn 'BEGIN { t = timestamp; v = vtimestamp; printf("%d %d\n", timestamp == t, t > 0); } tick-1ms { printf("%d %d\n", timestamp > t, vtimestamp >= 0); exit(0); }'
> 1 1
> 1 1
>
# walltimestamp: nanoseconds of the wall clock
$ erltrace -qn 'BEGIN { printf("%d %d\n", walltimestamp > 1700000000000000000, walltimestamp < 4000000000000000000); exit(0); }'
> 1 1
>
# where
$ erltrace -qn 'BEGIN { printf("%d %d %d %d\n", cpu == curcpu->cpu_id, cpu >= 0, tid > 0, ipl); exit(0); }'
> 1 1 1 0
>
# arguments that a probe does not have are 0
$ erltrace -qn 'BEGIN { printf("%d%d%d%d%d%d%d%d%d%d\n", arg0, arg1, arg2, arg3, arg4, arg5, arg6, arg7, arg8, arg9); exit(0); }'
> 0000000000
>
# their types
$ erltrace -qn 'BEGIN { printf("%d %d %d %d %d %d %d %d\n", sizeof (arg0), sizeof (timestamp), sizeof (pid), sizeof (uid), sizeof (errno), sizeof (caller), sizeof (ucaller), sizeof (curthread)); exit(0); }'
> 8 8 4 4 4 8 8 8
>
$ erltrace -qn 'BEGIN { printf("%d %d %d\n", (arg0 - 1) < 0, sizeof (stackdepth), sizeof (ustackdepth)); exit(0); }'
> 1 4 4
>
# errno and the stack can be read
$ erltrace -qn 'BEGIN { x = errno; c = caller; u = ucaller; d = stackdepth + ustackdepth; t = curthread; printf("ok\n"); exit(0); }'
> ok
>
# registers have names and are 64 bits wide; where a probe has none, reading them is a fault
$ erltrace -qn 'BEGIN { printf("%d %d %d\n", sizeof (uregs[R_SP]), sizeof (uregs[R_PC]), sizeof (uregs[0])); x = uregs[R_SP]; } ERROR { printf("fault\n"); exit(0); }'
> fault
!~ illegal operation
>
