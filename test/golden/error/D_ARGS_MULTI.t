# probes with different arguments
$ erltrace -e -xerrtags -n 'ERROR, tick-1s { trace(args[0]); }'
!~ \[D_ARGS_MULTI\]
? 1
$ erltrace -e -xerrtags -n 'dtrace:::, tick-1s { trace(args[1]); }'
!~ \[D_ARGS_MULTI\]
? 1
