# a declaration of nothing
$ erltrace -e -xerrtags -n 'int; BEGIN { exit(0); }'
!~ \[D_DECL_USELESS\]
? 1
$ erltrace -e -xerrtags -n 'struct s { int; }; BEGIN { exit(0); }'
!~ \[D_DECL_USELESS\]
? 1
