# ustack() with too many arguments
$ erltrace -e -xerrtags -n 'BEGIN { ustack(1, 2, 3); }'
!~ \[D_USTACK_PROTO\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { jstack(1, 2, 3); }'
!~ \[D_USTACK_PROTO\]
? 1
