# the steps are no constant
$ erltrace -e -xerrtags -n 'BEGIN { @ = llquantize(1, 10, 0, 6, pid); }'
!~ \[D_LLQUANT_STEPTYPE\]
? 1
