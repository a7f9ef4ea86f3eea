# with different steps
$ erltrace -e -xerrtags -n 'BEGIN { @ = llquantize(1, 10, 0, 6, 10); @ = llquantize(1, 10, 0, 6, 20); }'
!~ \[D_LLQUANT_MATCHSTEPS\]
? 1
