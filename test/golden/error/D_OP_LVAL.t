# changing what is no variable
$ erltrace -e -xerrtags -n 'BEGIN { 1 = 2; }'
!~ \[D_OP_LVAL\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = 1; x + 1 = 2; }'
!~ \[D_OP_LVAL\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { (1 + 2)++; }'
!~ \[D_OP_LVAL\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { "a" = "b"; }'
!~ \[D_OP_LVAL\]
? 1
$ erltrace -e -xerrtags -n 'inline int i = 1; BEGIN { i = 2; }'
!~ \[D_OP_LVAL\]
? 1
