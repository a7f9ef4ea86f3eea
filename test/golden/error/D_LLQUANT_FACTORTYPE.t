# the factor is no constant
$ erltrace -e -xerrtags -n 'BEGIN { @ = llquantize(1, pid, 0, 6, 10); }'
!~ \[D_LLQUANT_FACTORTYPE\]
? 1
