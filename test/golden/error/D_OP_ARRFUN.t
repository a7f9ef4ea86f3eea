# assigning an array
$ erltrace -e -xerrtags -n 'int a[3]; int b[3]; BEGIN { a = b; }'
!~ \[D_OP_ARRFUN\]
? 1
$ erltrace -e -xerrtags -n 'char c[4]; BEGIN { x = c; }'
!~ \[D_OP_ARRFUN\]
? 1
