# scopes in a declared name
$ erltrace -e -xerrtags -n 'int a`b; BEGIN { exit(0); }'
!~ \[D_DECL_SCOPE\]
? 1
