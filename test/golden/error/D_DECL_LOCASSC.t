# an associative array in this
$ erltrace -e -xerrtags -n 'this int a[int]; BEGIN { exit(0); }'
!~ \[D_DECL_LOCASSC\]
? 1
