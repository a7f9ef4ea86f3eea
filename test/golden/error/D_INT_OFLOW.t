# an integer that no type holds
$ erltrace -e -xerrtags -n 'BEGIN { x = 9223372036854775808; }'
!~ \[D_INT_OFLOW\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = 18446744073709551616u; }'
!~ \[D_INT_OFLOW\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = 0x10000000000000000; }'
!~ \[D_INT_OFLOW\]
? 1
