# -> of what is no pointer
$ erltrace -e -xerrtags -n 'struct s { int a; } g; BEGIN { trace(g->a); }'
!~ \[D_OP_PTR\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = 1; trace(x->a); }'
!~ \[D_OP_PTR\]
? 1
