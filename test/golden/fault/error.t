# the ERROR probe: arg1 epid, arg2 action, arg3 offset, arg4 fault, arg5 address
$ erltrace -qn 'BEGIN { e = epid; trace(*(int *)0x10); } ERROR { printf("%d %d %d 0x%x\n", arg1 == e, arg3 > 0, arg4, arg5); exit(0); }'
> 1 1 1 0x10
>
!~ invalid address \(0x10\)
# arg1 and arg2 are what the message says: the enabled probe, and the number of the action
$ erltrace -qn 'BEGIN { x = 1; } BEGIN / *(int *)8/ { trace(1); } BEGIN { x = 2; y = *(int *)16; } ERROR { printf("%d %d\n", arg1, arg2); } BEGIN { exit(0); }'
> 2 0
> 3 2
>
!~ error on enabled probe ID 2 \(ID 1: dtrace:::BEGIN\): invalid address \(0x8\) in predicate at BPF pc [0-9]+$
!~ error on enabled probe ID 3 \(ID 1: dtrace:::BEGIN\): invalid address \(0x10\) in action #2 at BPF pc [0-9]+$
# each value of printf() is an action, and each key and the value of an aggregation behind its name
$ erltrace -qn 'BEGIN { x = 1; printf("%d %d", x, *(int *)8); } BEGIN { printf("%d%d", 1, 2); @a[1, *(int *)16] = count(); } BEGIN { printf("x"); @b[1, 2] = quantize(*(int *)24, 2); } BEGIN { @b[1, 2] = quantize(1, *(int *)32); } ERROR { printf("%d %d\n", arg1, arg2); } BEGIN { exit(0); }' 2>/dev/null
> 1 3
> 2 5
> 3 6
> 4 4
>
# inside an if they go on
$ erltrace -qn 'int x; BEGIN { x = 1; if (x) { x = 2; x = *(int *)8; } } BEGIN { x = 0; if (x) x = 1; else x = 2; x = *(int *)16; } ERROR { printf("%d %d\n", arg1, arg2); } BEGIN { exit(0); }' 2>/dev/null
> 1 3
> 2 4
>
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
