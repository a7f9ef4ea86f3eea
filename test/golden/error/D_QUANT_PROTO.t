# quantize() with too few or too many arguments
$ erltrace -e -xerrtags -n 'BEGIN { @ = quantize(); }'
!~ \[D_QUANT_PROTO\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @ = quantize(1, 2, 3); }'
!~ \[D_QUANT_PROTO\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @ = quantize(1, "a"); }'
!~ \[D_QUANT_PROTO\]
? 1
