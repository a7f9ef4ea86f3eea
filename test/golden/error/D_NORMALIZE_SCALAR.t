# by what is no integer
$ erltrace -e -xerrtags -n 'BEGIN { @a = count(); normalize(@a, "x"); }'
!~ \[D_NORMALIZE_SCALAR\]
? 1
