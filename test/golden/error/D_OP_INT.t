# operators of integers only
$ erltrace -e -xerrtags -n 'BEGIN { x = ~"a"; }'
!~ \[D_OP_INT\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = "a" % 2; }'
!~ \[D_OP_INT\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = 1 << "a"; }'
!~ \[D_OP_INT\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { p = (int *)8; x = p & 7; }'
!~ \[D_OP_INT\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = 1; x |= "a"; }'
!~ \[D_OP_INT\]
? 1
$ erltrace -e -xerrtags -n 'int a[3]; BEGIN { trace(a["x"]); }'
!~ \[D_OP_INT\]
? 1
