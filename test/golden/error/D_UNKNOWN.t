# offsetof() of a member that is not there
$ erltrace -e -xerrtags -n 'struct s { int a; }; BEGIN { trace(offsetof(struct s, b)); }'
!~ \[D_UNKNOWN\]
? 1
