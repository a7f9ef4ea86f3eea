# a base beyond 32 bits
$ erltrace -e -xerrtags -n 'BEGIN { @ = lquantize(1, -2147483649, 10, 1); }'
!~ \[D_LQUANT_BASEVAL\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @ = lquantize(1, 2147483648, 2147483650, 1); }'
!~ \[D_LQUANT_BASEVAL\]
? 1
