# too few or too many arguments
$ erltrace -e -xerrtags -n 'BEGIN { x = strlen(); }'
!~ \[D_PROTO_LEN\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { exit(); }'
!~ \[D_PROTO_LEN\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = strjoin("a"); }'
!~ \[D_PROTO_LEN\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = rand(1); }'
!~ \[D_PROTO_LEN\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @a = count(1); }'
!~ \[D_PROTO_LEN\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @a = sum(); }'
!~ \[D_PROTO_LEN\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @a[1] = count(); @a[1, 2] = count(); }'
!~ \[D_PROTO_LEN\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { a[1] = 2; a[1, 2] = 3; }'
!~ \[D_PROTO_LEN\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(); }'
!~ \[D_PROTO_LEN\]
? 1
# an aggregating function, whoever takes it; quantize(), printa()
$ erltrace -e -xerrtags -n 'BEGIN { x = avg(); }'
!~ \[D_PROTO_LEN\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { count(1); }'
!~ \[D_PROTO_LEN\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @ = quantize(); }'
!~ \[D_PROTO_LEN\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @ = quantize(1, 2, 3); }'
!~ \[D_PROTO_LEN\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { printa(); }'
!~ \[D_PROTO_LEN\]
? 1
# two indices of args[]
$ erltrace -e -xerrtags -n 'ERROR { trace(args[0, 1]); }'
!~ \[D_PROTO_LEN\]
? 1
