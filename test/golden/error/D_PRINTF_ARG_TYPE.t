# an argument of another type
$ erltrace -e -xerrtags -n 'BEGIN { printf("%d", "a"); }'
!~ \[D_PRINTF_ARG_TYPE\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { printf("%s", 1); }'
!~ \[D_PRINTF_ARG_TYPE\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { printf("%f", 1); }'
!~ \[D_PRINTF_ARG_TYPE\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @a = count(); printf("%d", @a); }'
!~ \[D_PRINTF_ARG_TYPE\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @a["x"] = count(); printa("%d", @a); }'
!~ \[D_PRINTF_ARG_TYPE\]
? 1
# an action, an aggregation
$ erltrace -e -xerrtags -n 'BEGIN { printf("%d", printf("x")); }'
!~ \[D_PRINTF_ARG_TYPE\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @a = count(); printf("%d", @a); }'
!~ \[D_PRINTF_ARG_TYPE\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { printf("%s", count()); }'
!~ \[D_PRINTF_ARG_TYPE\]
? 1
# the value of an aggregation is a number
$ erltrace -e -xerrtags -n 'BEGIN { @a = count(); printa("%@s", @a); }'
!~ \[D_PRINTF_ARG_TYPE\]
? 1
