# trace() of a translated object
< t.d
| struct o { int m; };
| translator struct o < int I > { m = I; };
| BEGIN { trace(xlate <struct o>(1)); }
$ erltrace -e -xerrtags -s t.d
!~ \[D_TRACE_DYN\] line 3: 
? 1
