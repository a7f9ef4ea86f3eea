# keys of another type than before
$ erltrace -e -xerrtags -n 'BEGIN { @a[1] = count(); @a["x"] = count(); }'
!~ \[D_KEY_TYPE\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @a["x", 1] = count(); } END { @a[1, "x"] = count(); }'
!~ \[D_KEY_TYPE\]
? 1
# what cannot be a key
$ erltrace -e -xerrtags -n 'BEGIN { a[*(double *)16] = 1; }'
!~ \[D_KEY_TYPE\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @a[*(float *)16] = count(); }'
!~ \[D_KEY_TYPE\]
? 1
$ erltrace -e -xerrtags -n 'struct s { char c[5000]; } g; BEGIN { @a[g] = count(); }'
!~ \[D_KEY_TYPE\]
? 1
