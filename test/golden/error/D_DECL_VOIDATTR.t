# void with attributes
$ erltrace -e -xerrtags -n 'unsigned void *x; BEGIN { exit(0); }'
!~ \[D_DECL_VOIDATTR\]
? 1
$ erltrace -e -xerrtags -n 'long void *x; BEGIN { exit(0); }'
!~ \[D_DECL_VOIDATTR\]
? 1
