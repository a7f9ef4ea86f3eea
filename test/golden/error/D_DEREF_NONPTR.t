# following what is no pointer
$ erltrace -e -xerrtags -n 'BEGIN { x = 1; trace(*x); }'
!~ \[D_DEREF_NONPTR\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(*arg0); }'
!~ \[D_DEREF_NONPTR\]
? 1
$ erltrace -e -xerrtags -n 'struct s { int a; } g; BEGIN { trace(*g); }'
!~ \[D_DEREF_NONPTR\]
? 1
