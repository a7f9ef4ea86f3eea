# an action in an expression
$ erltrace -e -xerrtags -n 'BEGIN { x = trace(1); }'
!~ \[D_OP_ACT\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = 1 + exit(0); }'
!~ \[D_OP_ACT\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { printf("%d", printf("x")); }'
!~ \[D_OP_ACT\]
? 1
