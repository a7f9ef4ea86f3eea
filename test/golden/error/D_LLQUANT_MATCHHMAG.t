# with different high magnitudes
$ erltrace -e -xerrtags -n 'BEGIN { @ = llquantize(1, 10, 0, 6, 10); @ = llquantize(1, 10, 0, 5, 10); }'
!~ \[D_LLQUANT_MATCHHMAG\]
? 1
