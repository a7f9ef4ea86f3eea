# offsetof() of what has no members
$ erltrace -e -xerrtags -n 'BEGIN { trace(offsetof(int, a)); }'
!~ \[D_OFFSETOF_TYPE\]
? 1
$ erltrace -e -xerrtags -n 'struct undefined_s; BEGIN { trace(offsetof(struct undefined_s, a)); }'
!~ \[D_OFFSETOF_TYPE\]
? 1
$ erltrace -e -xerrtags -n 'struct s { int a; }; BEGIN { trace(offsetof(struct s *, a)); }'
!~ \[D_OFFSETOF_TYPE\]
? 1
