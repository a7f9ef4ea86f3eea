# no such name
$ erltrace -e -xerrtags -n 'BEGIN { trace(nosuch); }'
!~ \[D_IDENT_UNDEF\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN /nosuch/ { exit(0); }'
!~ \[D_IDENT_UNDEF\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = y; y = 1; }'
!~ \[D_IDENT_UNDEF\]
? 1
# an aggregation that is not assigned before, whoever takes it
$ erltrace -e -xerrtags -n 'BEGIN { @a; }'
!~ \[D_IDENT_UNDEF\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @; }'
!~ \[D_IDENT_UNDEF\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(@a); }'
!~ \[D_IDENT_UNDEF\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = @a + 1; }'
!~ \[D_IDENT_UNDEF\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { printf("%d", @a); }'
!~ \[D_IDENT_UNDEF\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN /@a/ { exit(0); }'
!~ \[D_IDENT_UNDEF\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { printa(@a); }'
!~ \[D_IDENT_UNDEF\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { printa("%@d", @a); }'
!~ \[D_IDENT_UNDEF\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { clear(@a); }'
!~ \[D_IDENT_UNDEF\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { normalize(@a, 10); }'
!~ \[D_IDENT_UNDEF\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { denormalize(@a); }'
!~ \[D_IDENT_UNDEF\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trunc(@a); }'
!~ \[D_IDENT_UNDEF\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trunc(@a, 5); }'
!~ \[D_IDENT_UNDEF\]
? 1
