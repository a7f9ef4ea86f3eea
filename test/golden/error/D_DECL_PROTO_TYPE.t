# a parameter of a type that cannot be one
$ erltrace -e -xerrtags -n 'int a[int b[string]]; BEGIN { exit(0); }'
!~ \[D_DECL_PROTO_TYPE\]
? 1
# a key of type void
$ erltrace -e -xerrtags -n 'int a[void]; BEGIN { exit(0); }'
!~ \[D_DECL_PROTO_TYPE\]
? 1
$ erltrace -e -xerrtags -n 'int a[int, void]; BEGIN { exit(0); }'
!~ \[D_DECL_PROTO_TYPE\]
? 1
$ erltrace -e -xerrtags -n 'int a[void v]; BEGIN { exit(0); }'
!~ \[D_DECL_PROTO_TYPE\]
? 1
