# a type is missing
$ erltrace -e -xerrtags -n 'self nosuch_t x; BEGIN { exit(0); }'
!~ \[D_DECL_IDENT\]
? 1
$ erltrace -e -xerrtags -n 'struct s { nosuch_t a; }; BEGIN { exit(0); }'
!~ \[D_DECL_IDENT\]
? 1
$ erltrace -e -xerrtags -n 'const x; BEGIN { exit(0); }'
!~ \[D_DECL_IDENT\]
? 1
