# a call of what is no function
$ erltrace -e -xerrtags -n 'BEGIN { x = 1; x(1); }'
!~ \[D_FUNC_IDKIND\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { pid(); }'
!~ \[D_FUNC_IDKIND\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(NULL(1)); }'
!~ \[D_FUNC_IDKIND\]
? 1
