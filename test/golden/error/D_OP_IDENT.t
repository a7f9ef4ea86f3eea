# -> and . need a name behind them
$ erltrace -e -xerrtags -n 'BEGIN { x = self->1; }'
!~ \[D_OP_IDENT\]
? 1
