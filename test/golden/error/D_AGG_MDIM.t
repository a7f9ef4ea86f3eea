# two lists of keys
$ erltrace -e -xerrtags -n 'BEGIN { @a[1][2] = count(); }'
!~ \[D_AGG_MDIM\]
? 1
