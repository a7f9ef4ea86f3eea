# operands that do not go together
$ erltrace -e -xerrtags -n 'BEGIN { x = "a" - 1; }'
!~ \[D_OP_INCOMPAT\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = 1; x = "a"; }'
!~ \[D_OP_INCOMPAT\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace("a" == 1); }'
!~ \[D_OP_INCOMPAT\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { p = (int *)8; q = (char *)8; x = p - q; }'
!~ \[D_OP_INCOMPAT\]
? 1
$ erltrace -e -xerrtags -n 'struct s { int a; } g; struct t { int a; } h; BEGIN { g = h; }'
!~ \[D_OP_INCOMPAT\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = pid ? "a" : 1; }'
!~ \[D_OP_INCOMPAT\]
? 1
