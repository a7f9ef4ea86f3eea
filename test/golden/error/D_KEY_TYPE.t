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
# an action, an aggregation
$ erltrace -e -xerrtags -n 'BEGIN { a[trace(1)] = 1; }'
!~ \[D_KEY_TYPE\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @a[exit(0)] = count(); }'
!~ \[D_KEY_TYPE\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @a = count(); @b[@a] = count(); }'
!~ \[D_KEY_TYPE\]
? 1
