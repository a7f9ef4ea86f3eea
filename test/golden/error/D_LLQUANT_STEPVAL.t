# steps that do not cut magnitudes evenly
$ erltrace -e -xerrtags -n 'BEGIN { @ = llquantize(1, 10, 0, 6, 3); }'
!~ \[D_LLQUANT_STEPVAL\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @ = llquantize(1, 10, 0, 6, 15); }'
!~ \[D_LLQUANT_STEPVAL\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @ = llquantize(1, 10, 0, 6, 30); }'
!~ \[D_LLQUANT_STEPVAL\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @ = llquantize(1, 10, 0, 6, 0); }'
!~ \[D_LLQUANT_STEPVAL\]
? 1
# more steps than the square of the factor, or than the first magnitude has numbers
$ erltrace -e -xerrtags -n 'BEGIN { @ = llquantize(1, 2, 0, 6, 8); }'
!~ \[D_LLQUANT_STEPVAL\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @ = llquantize(1, 10, 1, 6, 1000); }'
!~ \[D_LLQUANT_STEPVAL\]
? 1
