# a constant index outside of the array
$ erltrace -e -xerrtags -n 'int a[3]; BEGIN { a[3] = 1; }'
!~ \[D_ARR_BOUNDS\]
? 1
$ erltrace -e -xerrtags -n 'int a[3]; BEGIN { trace(a[-1]); }'
!~ \[D_ARR_BOUNDS\]
? 1
$ erltrace -e -xerrtags -n 'int a[2][3]; BEGIN { trace(a[1][3]); }'
!~ \[D_ARR_BOUNDS\]
? 1
$ erltrace -e -xerrtags -n 'struct s { char c[4]; } g; BEGIN { g.c[4] = 1; }'
!~ \[D_ARR_BOUNDS\]
? 1
