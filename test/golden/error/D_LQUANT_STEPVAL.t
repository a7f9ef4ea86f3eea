# a step of more than 16 bits
$ erltrace -e -xerrtags -n 'BEGIN { @ = lquantize(1, 0, 1000000, 65536); }'
!~ \[D_LQUANT_STEPVAL\]
? 1
