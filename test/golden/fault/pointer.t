# bad pointers: 0, -1, unmapped, unaligned; a fault, the ERROR probe, and on it goes
$ erltrace -qn 'BEGIN { trace(*(int *)0); } BEGIN { printf("on\n"); exit(0); }'
> on
>
!~ ^erltrace: error on enabled probe ID 1 \(ID 1: dtrace:::BEGIN\): invalid address \(0x0\) in action #1 at BPF pc [0-9]+$
$ erltrace -qn 'BEGIN { trace(*(char *)-1); } BEGIN { exit(0); }'
>
!~ invalid address \(0xffffffffffffffff\)
$ erltrace -qn 'BEGIN { trace(*(long *)-1); } BEGIN { exit(0); }'
>
!~ invalid address \(0xffffffffffffffff\)
# unmapped: the first page, and beyond what a process can have
$ erltrace -qn 'BEGIN { trace(*(int *)0x10); } BEGIN { exit(0); }'
>
!~ invalid address \(0x10\)
$ erltrace -qn 'BEGIN { trace(*(int *)0xdead000000000000); } BEGIN { exit(0); }'
>
!~ invalid address \(0xdead000000000000\)
# unaligned memory, even where it is there; single bytes have no alignment
$ erltrace -qn 'BEGIN { this->p = (char *)alloca(16); trace(*(int *)(this->p + 2)); } ERROR { printf("%d\n", arg4); exit(0); }'
> 2
>
!~ invalid alignment \(0x[0-9a-f]*2\)
$ erltrace -qn 'BEGIN { this->p = (char *)alloca(16); this->p[7] = 9; printf("%d %d\n", *(char *)(this->p + 7), *(short *)(this->p + 6)); exit(0); }'
> 9 2304
>
# unaligned and unmapped
$ erltrace -qn 'BEGIN { trace(*(long *)0x1003); } BEGIN { exit(0); }'
>
!~ invalid address \(0x1003\)
# through members, indexes, strings, copyin and their like
$ erltrace -qn 'struct s { int a; struct s *n; }; BEGIN { trace(((struct s *)0)->n); } BEGIN { exit(0); }'
>
!~ invalid address \(0x8\)
$ erltrace -qn 'BEGIN { this->p = (int *)0x1000; trace(this->p[3]); } BEGIN { exit(0); }'
>
!~ invalid address \(0x100c\)
$ erltrace -qn 'BEGIN { trace(stringof((char *)1)); } BEGIN { exit(0); }'
>
!~ invalid address \(0x1\)
$ erltrace -qn 'BEGIN { trace(copyinstr(0)); } BEGIN { exit(0); }'
>
!~ invalid address \(0x0\)
$ erltrace -qn 'BEGIN { this->p = copyin(0x2000, 8); printf("no\n"); } BEGIN { exit(0); }'
>
!~ invalid address \(0x2000\)
$ erltrace -qn 'BEGIN { this->b = alloca(8); bcopy((void *)0x3000, this->b, 8); } BEGIN { exit(0); }'
>
!~ invalid address \(0x3000\)
$ erltrace -qn 'BEGIN { this->b = alloca(8); copyinto(0x3000, 8, this->b); } BEGIN { exit(0); }'
>
!~ invalid address \(0x3000\)
$ erltrace -qn 'BEGIN { tracemem(0x3000, 8); } BEGIN { exit(0); }'
>
!~ invalid address \(0x3000\)
