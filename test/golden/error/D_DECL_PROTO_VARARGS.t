# ... where it has no place
$ erltrace -e -xerrtags -n 'provider p { probe a(int x, ...); }; BEGIN { exit(0); }'
!~ \[D_DECL_PROTO_VARARGS\]
? 1
$ erltrace -e -xerrtags -n 'inline int f[int a, ...] = a; BEGIN { exit(0); }'
!~ \[D_DECL_PROTO_VARARGS\]
? 1
$ erltrace -e -xerrtags -n 'int a[...]; BEGIN { exit(0); }'
!~ \[D_DECL_PROTO_VARARGS\]
? 1
