# dividing by 0
$ erltrace -qn 'BEGIN { x = 0; } BEGIN { trace(1 / x); } BEGIN { printf("on\n"); exit(0); }'
> on
>
!~ on enabled probe ID 2 \(ID 1: dtrace:::BEGIN\): divide-by-zero in action #1
$ erltrace -qn 'BEGIN { x = 0; } BEGIN { trace(1 % x); } BEGIN { exit(0); }'
>
!~ divide-by-zero
$ erltrace -qn 'BEGIN { x = 0u; } BEGIN { y = 5; y /= x; } BEGIN { printf("%d\n", y); exit(0); }'
> 5
>
!~ divide-by-zero
$ erltrace -qn 'BEGIN { x = 0UL; } BEGIN { self->y = 9; self->y %= x; } BEGIN { printf("%d\n", self->y); exit(0); }'
> 9
>
!~ divide-by-zero
