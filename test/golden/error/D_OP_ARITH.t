# arithmetic with what is no number
$ erltrace -e -xerrtags -n 'BEGIN { x = "a" * 2; }'
!~ \[D_OP_ARITH\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = -"a"; }'
!~ \[D_OP_ARITH\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = 3 / "a"; }'
!~ \[D_OP_ARITH\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { p = (int *)8; x = p * 2; }'
!~ \[D_OP_ARITH\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = 1; x *= "a"; }'
!~ \[D_OP_ARITH\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { this->d = (double *)alloca(8); trace(*this->d + 1); }'
!~ \[D_OP_ARITH\]
? 1
# of an action, of an aggregation
$ erltrace -e -xerrtags -n 'BEGIN { x = -trace(1); }'
!~ \[D_OP_ARITH\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = 2 * trace(1); }'
!~ \[D_OP_ARITH\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @a = count(); x = -@a; }'
!~ \[D_OP_ARITH\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @a = count(); x = @a / 2; }'
!~ \[D_OP_ARITH\]
? 1
