# the low magnitude is no constant
$ erltrace -e -xerrtags -n 'BEGIN { @ = llquantize(1, 10, pid, 6, 10); }'
!~ \[D_LLQUANT_LMAGTYPE\]
? 1
