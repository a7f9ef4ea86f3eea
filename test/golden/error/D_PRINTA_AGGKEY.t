# aggregations with keys of different types
$ erltrace -e -xerrtags -n 'BEGIN { @a[1] = count(); @b["x"] = count(); printa(@a, @b); }'
!~ \[D_PRINTA_AGGKEY\]
? 1
