# aggregations with keys of different types
$ erltrace -e -xerrtags -n 'BEGIN { @a[1] = count(); @b["x"] = count(); printa(@a, @b); }'
!~ \[D_PRINTA_AGGPROTO\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @a[1, "x"] = count(); @b[1, 2] = count(); printa(@a, @b); }'
!~ \[D_PRINTA_AGGPROTO\]
? 1
