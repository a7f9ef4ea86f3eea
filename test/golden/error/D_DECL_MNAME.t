# a member declared twice
$ erltrace -e -xerrtags -n 'struct s { int a; char a; }; BEGIN { exit(0); }'
!~ \[D_DECL_MNAME\]
? 1
$ erltrace -e -xerrtags -n 'struct s { int a; union { char a; }; }; BEGIN { exit(0); }'
!~ \[D_DECL_MNAME\]
? 1
