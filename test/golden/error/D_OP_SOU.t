# members of what has none
$ erltrace -e -xerrtags -n 'BEGIN { x = 1; trace(x.a); }'
!~ \[D_OP_SOU\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { p = (int *)8; trace(p->a); }'
!~ \[D_OP_SOU\]
? 1
$ erltrace -e -xerrtags -n 'struct s { int a; } *p; BEGIN { trace(p.a); }'
!~ \[D_OP_SOU\]
? 1
