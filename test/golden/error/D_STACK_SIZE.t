# stack() of no constant, or none
$ erltrace -e -xerrtags -n 'BEGIN { stack(pid); }'
!~ \[D_STACK_SIZE\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { stack(0); }'
!~ \[D_STACK_SIZE\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { stack("a"); }'
!~ \[D_STACK_SIZE\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { stack(-1); }'
!~ \[D_STACK_SIZE\]
? 1
