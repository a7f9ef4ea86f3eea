# faults: which enabled probe, which probe, what, where
$ erltrace -qn 'BEGIN { trace(*(int *)0); } BEGIN { exit(0); }'
>
!~ ^erltrace: error on enabled probe ID 1 \(ID 1: dtrace:::BEGIN\): invalid address \(0x0\) in action #1 at BPF pc [0-9]+$
$ erltrace -qn 'BEGIN { x = 0; } BEGIN { trace(1 / x); } BEGIN { exit(0); }'
>
!~ ^erltrace: error on enabled probe ID 2 \(ID 1: dtrace:::BEGIN\): divide-by-zero in action #1 at BPF pc [0-9]+$
# nothing of its record is printed, the others run
$ erltrace -qn 'BEGIN { printf("before\n"); } BEGIN { printf("half "); trace(*(int *)1); } BEGIN { printf("after\n"); exit(0); }'
> before
> after
>
!~ invalid address \(0x1\)
# exit code 0: tracing went on
$ erltrace -qn 'BEGIN { trace(*(char *)-1); } BEGIN { exit(0); }' 2>/dev/null
>
# the ERROR probe is told first
$ erltrace -qn 'BEGIN { trace(*(int *)16); } ERROR { printf("fault %d at 0x%x\n", arg4, arg5); exit(0); }'
> fault 1 at 0x10
>
!~ invalid address \(0x10\)
# in which line, where there is more than one; the file of -s
< lines.d
| BEGIN
| {
| 	x = 1;
| 	trace(*(int *)0);
| }
| BEGIN / *(int *)8/ { } BEGIN { exit(0); }
$ erltrace -qs lines.d
>
!~ ID 1 .*: invalid address \(0x0\) in action #2 at BPF pc [0-9]+ \(line 4 of lines.d\)$
!~ ID 2 .*: invalid address \(0x8\) in predicate at BPF pc [0-9]+ \(line 6 of lines.d\)$
$ erltrace -qn "$(cat lines.d)"
>
!~ ID 1 .*: invalid address \(0x0\) in action #2 at BPF pc [0-9]+ \(line 4\)$
!~ ID 2 .*: invalid address \(0x8\) in predicate at BPF pc [0-9]+ \(line 6\)$
