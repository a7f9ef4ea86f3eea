# stack() with too many arguments
$ erltrace -e -xerrtags -n 'BEGIN { stack(1, 2); }'
!~ \[D_STACK_PROTO\]
? 1
