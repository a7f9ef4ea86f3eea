# more arguments than conversions
$ erltrace -e -xerrtags -n 'BEGIN { printf("%d", 1, 2); }'
!~ \[D_PRINTF_ARG_EXTRA\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { printf("x", 1); }'
!~ \[D_PRINTF_ARG_EXTRA\]
? 1
