# with different steps
$ erltrace -e -xerrtags -n 'BEGIN { @ = lquantize(1, 0, 10, 2); @ = lquantize(1, 0, 10, 5); }'
!~ \[D_LQUANT_MATCHSTEP\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @ = lquantize(1, 0, 10, 2); @ = lquantize(1, 0, 10); }'
!~ \[D_LQUANT_MATCHSTEP\]
? 1
