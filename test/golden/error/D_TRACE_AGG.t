# trace() of an aggregation
$ erltrace -e -xerrtags -n 'BEGIN { @a = count(); trace(@a); }'
!~ \[D_TRACE_AGG\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(@a[1]); }'
!~ \[D_TRACE_AGG\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(count()); }'
!~ \[D_TRACE_AGG\]
? 1
