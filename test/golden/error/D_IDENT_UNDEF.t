# no such name
$ erltrace -e -xerrtags -n 'BEGIN { trace(nosuch); }'
!~ \[D_IDENT_UNDEF\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN /nosuch/ { exit(0); }'
!~ \[D_IDENT_UNDEF\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = a["k"]; }'
!~ \[D_IDENT_UNDEF\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = y; y = 1; }'
!~ \[D_IDENT_UNDEF\]
? 1
