# changing a built-in variable
$ erltrace -e -xerrtags -n 'BEGIN { pid = 1; }'
!~ \[D_OP_WRITE\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { timestamp++; }'
!~ \[D_OP_WRITE\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { arg0 += 1; }'
!~ \[D_OP_WRITE\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { probename = "x"; }'
!~ \[D_OP_WRITE\]
? 1
