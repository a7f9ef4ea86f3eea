# the address of the element behind the last one can be taken: a constant index and one of run time
$ erltrace -qn 'int a[5]; this int b[2][3]; struct s { short v[4]; } g; BEGIN { i = 5; printf("%d %d %d %d\n", (int)(&a[5] - &a[0]), (int)(&a[i] - a), (int)(&this->b[1][3] - &this->b[0][0]), (int)(&g.v[4] - g.v)); exit(0); }'
> 5 5 6 4
>
# but not that of one further on
$ erltrace -e -xerrtags -n 'int a[5]; BEGIN { trace(&a[6] == NULL); }'
!~ \[D_ARR_BOUNDS\]
? 1
$ erltrace -e -xerrtags -n 'int a[5]; BEGIN { trace(a[5]); }'
!~ \[D_ARR_BOUNDS\]
? 1
$ erltrace -qn 'int a[5]; BEGIN { i = 6; trace(&a[i] == NULL); } BEGIN { exit(0); }'
>
!~ index out of bounds
# nor is anything there
$ erltrace -qn 'int a[5]; int b; BEGIN { i = 5; b = 7; trace(*&a[5]); } BEGIN { trace(*&a[i]); } BEGIN { *&a[i] = 1; } BEGIN { printf("%d\n", b); exit(0); }'
> 7
>
!~ index out of bounds
!~ index out of bounds
!~ index out of bounds
