# the ERROR probe: arg1 epid, arg2 action, arg3 offset, arg4 fault, arg5 address
$ erltrace -qn 'BEGIN { e = epid; trace(*(int *)0x10); } ERROR { printf("%d %d %d 0x%x\n", arg1 == e, arg3 > 0, arg4, arg5); exit(0); }'
> 1 1 1 0x10
>
!~ invalid address \(0x10\)
# kinds: 1 invalid address, 4 divide-by-zero
$ erltrace -qn 'BEGIN { x = 0; } BEGIN { trace(1 / x); } ERROR { printf("%d 0x%x\n", arg4, arg5); exit(0); }'
> 4 0x0
>
!~ divide-by-zero
# by its types
$ erltrace -qn 'BEGIN { trace(*(int *)0x18); } ERROR { printf("%d 0x%x %d\n", args[4], args[5], sizeof (args[1])); exit(0); }'
> 1 0x18 8
>
!~ invalid address
# nothing of the clause's record is left, but its changes up to the fault are
$ erltrace -qn 'BEGIN { x = 1; printf("no "); y = *(int *)0; x = 2; } ERROR { printf("error %d\n", x); } BEGIN { printf("on %d\n", x); exit(0); }'
> error 1
> on 1
>
!~ invalid address
# a fault in a predicate: the clause does not run
$ erltrace -qn 'BEGIN / *(int *)0 == 0/ { printf("no\n"); } BEGIN { printf("on\n"); exit(0); }'
> on
>
!~ invalid address
# a fault in ERROR itself is counted, not repeated
$ erltrace -qn 'ERROR { trace(*(int *)1); } BEGIN { trace(*(int *)0); } BEGIN { exit(0); }'
>
!~ invalid address \(0x0\)
!~ error in ERROR probe enabling
# ERROR with its own provider's name; many faults, each told
$ erltrace -qn 'dtrace:::ERROR { n++; } BEGIN { trace(*(int *)0); } BEGIN { trace(*(int *)4); } BEGIN { printf("%d\n", n); exit(0); }'
> 2
>
!~ invalid address \(0x0\)
!~ invalid address \(0x4\)
