# an argument of the wrong type
$ erltrace -e -xerrtags -n 'BEGIN { x = strlen(1); }'
!~ \[D_PROTO_ARG\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { exit("a"); }'
!~ \[D_PROTO_ARG\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = index("a", 2); }'
!~ \[D_PROTO_ARG\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = alloca("a"); }'
!~ \[D_PROTO_ARG\]
? 1
$ erltrace -e -xerrtags -n 'inline int f[int a] = a; BEGIN { x = f["a"]; }'
!~ \[D_PROTO_ARG\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { a[1] = 2; a["x"] = 3; }'
!~ \[D_PROTO_ARG\]
? 1
