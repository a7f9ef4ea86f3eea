# logic with what is no scalar
$ erltrace -e -xerrtags -n 'BEGIN { x = !"a"; }'
!~ \[D_OP_SCALAR\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = "a" && 1; }'
!~ \[D_OP_SCALAR\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = 1 || "a"; }'
!~ \[D_OP_SCALAR\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = "a" ^^ "b"; }'
!~ \[D_OP_SCALAR\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = "a" ? 1 : 2; }'
!~ \[D_OP_SCALAR\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { s = "a"; s++; }'
!~ \[D_OP_SCALAR\]
? 1
