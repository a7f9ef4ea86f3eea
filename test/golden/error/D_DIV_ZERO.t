# dividing by the constant 0
$ erltrace -e -xerrtags -n 'BEGIN { trace(1 / 0); }'
!~ \[D_DIV_ZERO\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = 5; x %= 0; }'
!~ \[D_DIV_ZERO\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = 5; y = x % (2 - 2); }'
!~ \[D_DIV_ZERO\]
? 1
