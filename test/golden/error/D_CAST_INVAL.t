# casts that mean nothing
$ erltrace -e -xerrtags -n 'BEGIN { x = (int)"text"; }'
!~ \[D_CAST_INVAL\]
? 1
$ erltrace -e -xerrtags -n 'struct s { int a; } g; BEGIN { x = (int)g; }'
!~ \[D_CAST_INVAL\]
? 1
$ erltrace -e -xerrtags -n 'struct s { int a; } g; BEGIN { g = (struct s)1; }'
!~ \[D_CAST_INVAL\]
? 1
$ erltrace -e -xerrtags -n 'struct s { int a; } g; BEGIN { x = (char *)g; }'
!~ \[D_CAST_INVAL\]
? 1
