# steps that do not cut magnitudes evenly
$ erltrace -e -xerrtags -n 'BEGIN { @ = llquantize(1, 10, 0, 6, 5); }'
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
