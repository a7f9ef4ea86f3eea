# no probe, or none with types
$ erltrace -e -Z -xerrtags -n 'nosuch:::probe { trace(args[0]); }'
!~ \[D_ARGS_NONE\]
? 1
# outside of a clause
$ erltrace -e -xerrtags -n 'inline int x = args[0]; BEGIN { exit(0); }'
!~ \[D_ARGS_NONE\]
? 1
