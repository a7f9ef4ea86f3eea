# keys of what is no array
$ erltrace -e -xerrtags -n 'BEGIN { x = 1; trace(x[1]); }'
!~ \[D_ARR_BADREF\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = 1; x["a"] = 2; }'
!~ \[D_ARR_BADREF\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(pid[0]); }'
!~ \[D_ARR_BADREF\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace((1 + 2)[0]); }'
!~ \[D_ARR_BADREF\]
? 1
