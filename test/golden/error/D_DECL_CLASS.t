# two storage classes
$ erltrace -e -xerrtags -n 'typedef self int x; BEGIN { exit(0); }'
!~ \[D_DECL_CLASS\]
? 1
$ erltrace -e -xerrtags -n 'self this int x; BEGIN { exit(0); }'
!~ \[D_DECL_CLASS\]
? 1
