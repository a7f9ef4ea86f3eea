# a bad size
$ erltrace -e -xerrtags -n 'int a[-1]; BEGIN { exit(0); }'
!~ \[D_DECL_ARRSUB\]
? 1
$ erltrace -e -xerrtags -n 'int a["x"]; BEGIN { exit(0); }'
!~ \[D_DECL_ARRSUB\]
? 1
$ erltrace -e -xerrtags -n 'int x; int a[x]; BEGIN { exit(0); }'
!~ \[D_DECL_ARRSUB\]
? 1
# an array of no elements
$ erltrace -e -xerrtags -n 'int a[0]; BEGIN { exit(0); }'
!~ \[D_DECL_ARRSUB\]
? 1
