# storage classes that mean nothing in D
$ erltrace -e -xerrtags -n 'static int x; BEGIN { exit(0); }'
!~ \[D_DECL_BADCLASS\]
? 1
$ erltrace -e -xerrtags -n 'auto int x; BEGIN { exit(0); }'
!~ \[D_DECL_BADCLASS\]
? 1
$ erltrace -e -xerrtags -n 'register int x; BEGIN { exit(0); }'
!~ \[D_DECL_BADCLASS\]
? 1
$ erltrace -e -xerrtags -n 'struct s { static int a; }; BEGIN { exit(0); }'
!~ \[D_DECL_BADCLASS\]
? 1
