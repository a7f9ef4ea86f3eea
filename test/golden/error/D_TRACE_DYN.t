# trace() of an aggregation
$ erltrace -e -xerrtags -n 'BEGIN { @a = count(); trace(@a); }'
!~ \[D_TRACE_DYN\]
? 1
# trace() of a translated object
< t.d
| struct o { int m; };
| translator struct o < int I > { m = I; };
| BEGIN { trace(xlate <struct o>(1)); }
$ erltrace -e -xerrtags -s t.d
!~ \[D_TRACE_DYN\] line 3: 
? 1
