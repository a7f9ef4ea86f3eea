# an index that is not constant is checked where the probe fires
$ erltrace -qn 'int a[4]; BEGIN { i = 4; } BEGIN { trace(a[i]); } BEGIN { exit(0); }'
>
!~ index out of bounds
$ erltrace -qn 'int a[4]; BEGIN { i = -1; } BEGIN { a[i] = 1; } BEGIN { exit(0); }'
>
!~ index out of bounds
$ erltrace -qn 'short m[2][3]; BEGIN { i = 2; } BEGIN { m[1][0] = 7; trace(m[0][i + 1]); } BEGIN { printf("%d\n", m[1][0]); exit(0); }'
> 7
>
!~ index out of bounds
$ erltrace -qn 'struct s { int v[3]; } g; BEGIN { i = 3; } BEGIN { g.v[i] = 1; } BEGIN { exit(0); }'
>
!~ index out of bounds
# the last one is in
$ erltrace -qn 'int a[4]; BEGIN { i = 3; a[i] = 8; printf("%d\n", a[i]); exit(0); }'
> 8
>
