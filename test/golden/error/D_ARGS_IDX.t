# no such argument
$ erltrace -e -xerrtags -n 'ERROR { trace(args[6]); }'
!~ \[D_ARGS_IDX\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(args[0]); }'
!~ \[D_ARGS_IDX\]
? 1
$ erltrace -e -xerrtags -n 'tick-1s { trace(args[2]); }'
!~ \[D_ARGS_IDX\]
? 1
$ erltrace -e -xerrtags -n 'ERROR { trace(args[256]); }'
!~ \[D_ARGS_IDX\]
? 1
