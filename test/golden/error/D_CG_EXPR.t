# an action in a predicate
$ erltrace -e -xerrtags -n 'BEGIN /trace(1)/ { exit(0); }'
!~ \[D_CG_EXPR\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { if (exit(0)) trace(1); }'
!~ \[D_CG_EXPR\]
? 1
