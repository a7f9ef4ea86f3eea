# with different limits
$ erltrace -e -xerrtags -n 'BEGIN { @ = lquantize(1, 0, 10, 2); @ = lquantize(1, 0, 20, 2); }'
!~ \[D_LQUANT_MATCHLIM\]
? 1
