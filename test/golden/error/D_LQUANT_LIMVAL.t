# a limit beyond 32 bits
$ erltrace -e -xerrtags -n 'BEGIN { @ = lquantize(1, 0, 2147483648, 65535); }'
!~ \[D_LQUANT_LIMVAL\]
? 1
