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
