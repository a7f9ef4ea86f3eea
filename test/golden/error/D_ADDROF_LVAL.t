# the address of what has none
$ erltrace -e -xerrtags -n 'BEGIN { x = &1; }'
!~ \[D_ADDROF_LVAL\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = &(1 + 2); }'
!~ \[D_ADDROF_LVAL\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = 1; y = &-x; }'
!~ \[D_ADDROF_LVAL\]
? 1
