# an action as an operand of ?: or of a comma
$ erltrace -e -xerrtags -n 'BEGIN { pid ? trace(1) : trace(2); }'
!~ \[D_OP_ACT\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = pid ? trace(1) : trace(2); }'
!~ \[D_OP_ACT\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = (trace(1), 2); }'
!~ \[D_OP_ACT\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = (2, exit(0)); }'
!~ \[D_OP_ACT\]
? 1
