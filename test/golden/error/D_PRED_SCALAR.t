# a condition that is no scalar
$ erltrace -e -xerrtags -n 'BEGIN /"a"/ { exit(0); }'
!~ \[D_PRED_SCALAR\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN /probename/ { exit(0); }'
!~ \[D_PRED_SCALAR\]
? 1
$ erltrace -e -xerrtags -n 'struct s { int a; } g; BEGIN /g/ { exit(0); }'
!~ \[D_PRED_SCALAR\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { if ("a") exit(0); }'
!~ \[D_PRED_SCALAR\]
? 1
# an action, an aggregation
$ erltrace -e -xerrtags -n 'BEGIN /trace(1)/ { exit(0); }'
!~ \[D_PRED_SCALAR\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @a = count(); } END /@a/ { exit(0); }'
!~ \[D_PRED_SCALAR\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { if (exit(0)) trace(1); }'
!~ \[D_PRED_SCALAR\]
? 1
