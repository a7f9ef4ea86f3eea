# floating-point constants are an error
$ erltrace -e -xerrtags -n 'BEGIN { trace(1.5); }'
!~ \[D_SYNTAX\] .*floating.*erlscaled\(T, 1000\) of a term
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(1e3); }'
!~ \[D_SYNTAX\] .*floating
? 1
