# aggregations with different numbers of keys
$ erltrace -e -xerrtags -n 'BEGIN { @a[1] = count(); @b[1, 2] = count(); printa("%d %@d %@d", @a, @b); }'
!~ \[D_PRINTA_AGGKEY\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @a[1] = count(); @b = count(); printa(@a, @b); }'
!~ \[D_PRINTA_AGGKEY\]
? 1
