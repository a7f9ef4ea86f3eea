# a low magnitude below 0
$ erltrace -e -xerrtags -n 'BEGIN { @ = llquantize(1, 10, -1, 6, 10); }'
!~ \[D_LLQUANT_LMAGVAL\]
? 1
