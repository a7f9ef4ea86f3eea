# a call of what is no name
$ erltrace -e -xerrtags -n 'BEGIN { x = (1 + 2)(3); }'
!~ \[D_FUNC_IDENT\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { this->f(1); }'
!~ \[D_FUNC_IDENT\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { 5(); }'
!~ \[D_FUNC_IDENT\]
? 1
