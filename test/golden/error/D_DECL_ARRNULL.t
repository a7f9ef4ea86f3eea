# an array of no elements
$ erltrace -e -xerrtags -n 'int a[]; BEGIN { exit(0); }'
!~ \[D_DECL_ARRNULL\]
? 1
