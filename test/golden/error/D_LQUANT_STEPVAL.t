# a step below 1 or beyond 16 bits
$ erltrace -e -xerrtags -n 'BEGIN { @ = lquantize(1, 0, 10, 0); }'
!~ \[D_LQUANT_STEPVAL\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @ = lquantize(1, 0, 10, -1); }'
!~ \[D_LQUANT_STEPVAL\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @ = lquantize(1, 0, 1000000, 65536); }'
!~ \[D_LQUANT_STEPVAL\]
? 1
