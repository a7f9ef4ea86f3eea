# following a pointer to a function
$ erltrace -e -xerrtags -n 'int (*f)(int); BEGIN { x = *f; }'
!~ \[D_DEREF_FUNC\]
? 1
