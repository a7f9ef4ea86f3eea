# arithmetic with pointers to void and to functions
$ erltrace -e -xerrtags -n 'BEGIN { p = (void *)8; p++; }'
!~ \[D_OP_VFPTR\]
? 1
# an integer changed by a pointer, a pointer to void by anything
$ erltrace -e -xerrtags -n 'BEGIN { i = 1; p = (int *)8; i -= p; }'
!~ \[D_OP_VFPTR\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { i = 1; p = (int *)8; i += p; }'
!~ \[D_OP_VFPTR\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { p = (void *)8; p += 1; }'
!~ \[D_OP_VFPTR\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { p = (void *)8; p -= 1; }'
!~ \[D_OP_VFPTR\]
? 1
