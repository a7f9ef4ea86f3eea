# with too few or too many arguments
$ erltrace -e -xerrtags -n 'BEGIN { @a = count(); normalize(@a); }'
!~ \[D_NORMALIZE_PROTO\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @a = count(); normalize(@a, 1, 2); }'
!~ \[D_NORMALIZE_PROTO\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { denormalize(); }'
!~ \[D_NORMALIZE_PROTO\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @a = count(); denormalize(@a, 1); }'
!~ \[D_NORMALIZE_PROTO\]
? 1
