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
$ erltrace -e -xerrtags -n 'BEGIN { @a = count; }'
!~ \[D_AGG_FUNC\]
? 1
# an aggregating function without aggregation
$ erltrace -e -xerrtags -n 'BEGIN { x = count(); }'
!~ \[D_AGG_FUNC\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { count(); }'
!~ \[D_AGG_FUNC\]
? 1
