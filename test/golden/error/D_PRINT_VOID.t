# print() of nothing
$ erltrace -e -xerrtags -n 'BEGIN { print((void)1); }'
!~ \[D_PRINT_VOID\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { print(trace(1)); }'
!~ \[D_PRINT_VOID\]
? 1
