# two names
$ erltrace -e -xerrtags -n 'int uint64_t uint32_t; BEGIN { exit(0); }'
!~ \[D_DECL_IDENT\]
? 1
