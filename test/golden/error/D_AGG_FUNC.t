# an aggregation that is given no aggregating function
$ erltrace -e -xerrtags -n 'BEGIN { @a = 1; }'
!~ \[D_AGG_FUNC\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @a = trace(1); }'
!~ \[D_AGG_FUNC\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @a = strlen("x"); }'
!~ \[D_AGG_FUNC\]
? 1
