# a parameter of a type that cannot be one
$ erltrace -e -xerrtags -n 'int a[int b[string]]; BEGIN { exit(0); }'
!~ \[D_DECL_PROTO_TYPE\]
? 1
