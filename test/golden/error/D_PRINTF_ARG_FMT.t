# a format that is no constant
$ erltrace -e -xerrtags -n 'BEGIN { s = "a"; printf(s); }'
!~ \[D_PRINTF_ARG_FMT\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { printf(1); }'
!~ \[D_PRINTF_ARG_FMT\]
? 1
