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
# an action, an aggregation
$ erltrace -e -xerrtags -n 'BEGIN { x = strlen(trace(1)); }'
!~ \[D_PROTO_ARG\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @a = count(); exit(@a); }'
!~ \[D_PROTO_ARG\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = alloca(count()); }'
!~ \[D_PROTO_ARG\]
? 1
# keys of another type than before
$ erltrace -e -xerrtags -n 'BEGIN { @a[1] = count(); @a["x"] = count(); }'
!~ \[D_PROTO_ARG\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @a["x", 1] = count(); } END { @a[1, "x"] = count(); }'
!~ \[D_PROTO_ARG\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { a[1] = 2; a[trace(1)] = 3; }'
!~ \[D_PROTO_ARG\]
? 1
# bounds and increments of distributions
$ erltrace -e -xerrtags -n 'BEGIN { @ = lquantize(1, "a", 5); }'
!~ \[D_PROTO_ARG\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @ = lquantize(1, 0, "a"); }'
!~ \[D_PROTO_ARG\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @ = llquantize(1, "a", 0, 6, 20); }'
!~ \[D_PROTO_ARG\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @ = quantize(1, "a"); }'
!~ \[D_PROTO_ARG\]
? 1
# the size of tracemem()
$ erltrace -e -xerrtags -n 'BEGIN { tracemem(16, "a"); }'
!~ \[D_PROTO_ARG\]
? 1
# an index of args[] that is no constant
$ erltrace -e -xerrtags -n 'ERROR { trace(args[pid]); }'
!~ \[D_PROTO_ARG\]
? 1
$ erltrace -e -xerrtags -n 'ERROR { trace(args["a"]); }'
!~ \[D_PROTO_ARG\]
? 1
