# no such member
$ erltrace -e -xerrtags -n 'struct s { int a; } g; BEGIN { trace(g.b); }'
!~ \[D_TYPE_MEMBER\]
? 1
$ erltrace -e -xerrtags -n 'struct s { int a; }; BEGIN { trace(((struct s *)8)->b); }'
!~ \[D_TYPE_MEMBER\]
? 1
