# a width that is no constant
$ erltrace -e -xerrtags -n 'struct s { int a : -1; }; BEGIN { exit(0); }'
!~ \[D_DECL_BFCONST\]
? 1
$ erltrace -e -xerrtags -n 'struct s { int a : 0; }; BEGIN { exit(0); }'
!~ \[D_DECL_BFCONST\]
? 1
$ erltrace -e -xerrtags -n 'int x; struct s { int a : x; }; BEGIN { exit(0); }'
!~ \[D_DECL_BFCONST\]
? 1
