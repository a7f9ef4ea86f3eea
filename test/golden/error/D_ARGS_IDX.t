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
# no constant index, or no index at all
$ erltrace -e -xerrtags -n 'ERROR { trace(args[pid]); }'
!~ \[D_ARGS_IDX\]
? 1
$ erltrace -e -xerrtags -n 'ERROR { trace(args["a"]); }'
!~ \[D_ARGS_IDX\]
? 1
$ erltrace -e -xerrtags -n 'ERROR { trace(args[0, 1]); }'
!~ \[D_ARGS_IDX\]
? 1
