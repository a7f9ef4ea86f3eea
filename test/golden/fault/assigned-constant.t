# a constant that an assignment or a comma gives is no constant to the checker: it faults as others do
$ erltrace -qn 'BEGIN / 1 / (x = 0) / { trace("no"); } BEGIN { y = 5; x = 3; x /= (y = 0); } BEGIN { trace(7 % (x, 0)); } BEGIN { printf("%d %d\n", x, y); exit(0); }'
> 3 0
>
! erltrace: error on enabled probe ID 1 (ID 1: dtrace:::BEGIN): divide-by-zero in predicate at BPF pc 5
!~ ^erltrace: error on enabled probe ID 2 \(ID 1: dtrace:::BEGIN\): divide-by-zero in action #3 at
!~ ^erltrace: error on enabled probe ID 3 \(ID 1: dtrace:::BEGIN\): divide-by-zero in action #1 at
$ erltrace -qn 'int a[4]; int b[4]; BEGIN { b[0] = 1; a[(i = 4)] = 7; trace("no"); } BEGIN { a[(i = -1)] = 7; trace("no"); } BEGIN { trace(a[(i, 400000)]); } BEGIN { a[(i = 3)] = 7; printf("%d %d\n", b[0], a[3]); exit(0); }'
> 1 7
>
!~ ^erltrace: error on enabled probe ID 1 \(ID 1: dtrace:::BEGIN\): index out of bounds in action #2 at
!~ ^erltrace: error on enabled probe ID 2 \(ID 1: dtrace:::BEGIN\): index out of bounds in action #1 at
!~ ^erltrace: error on enabled probe ID 3 \(ID 1: dtrace:::BEGIN\): index out of bounds in action #1 at
