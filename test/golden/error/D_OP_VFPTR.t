# arithmetic with pointers to void and to functions
$ erltrace -e -xerrtags -n 'BEGIN { p = (void *)8; p++; }'
!~ \[D_OP_VFPTR\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { p = (void *)8; q = p + 1; }'
!~ \[D_OP_VFPTR\]
? 1
$ erltrace -e -xerrtags -n 'int (*f)(int); BEGIN { g = f + 1; }'
!~ \[D_OP_VFPTR\]
? 1
