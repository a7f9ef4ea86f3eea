# a bit-field wider than its type
$ erltrace -e -xerrtags -n 'struct s { int a : 33; }; BEGIN { exit(0); }'
!~ \[D_DECL_BFSIZE\]
? 1
$ erltrace -e -xerrtags -n 'struct s { char a : 9; }; BEGIN { exit(0); }'
!~ \[D_DECL_BFSIZE\]
? 1
