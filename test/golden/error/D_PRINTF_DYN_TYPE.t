# a * whose argument is no integer
$ erltrace -e -xerrtags -n 'BEGIN { printf("%*d", "a", 1); }'
!~ \[D_PRINTF_DYN_TYPE\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { printf("%.*s", "a", "b"); }'
!~ \[D_PRINTF_DYN_TYPE\]
? 1
