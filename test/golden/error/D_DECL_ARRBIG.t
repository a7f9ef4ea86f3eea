# an array larger than memory
$ erltrace -e -xerrtags -n 'int a[0x7fffffff]; BEGIN { exit(0); }'
!~ \[D_DECL_ARRBIG\]
? 1
$ erltrace -e -xerrtags -n 'char a[100000][100000][100000]; BEGIN { exit(0); }'
!~ \[D_DECL_ARRBIG\]
? 1
