# no such function
$ erltrace -e -xerrtags -n 'BEGIN { nosuch(); }'
!~ \[D_FUNC_UNDEF\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = strlne("a"); }'
!~ \[D_FUNC_UNDEF\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @a = nosuch(1); }'
!~ \[D_FUNC_UNDEF\]
? 1
