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
# where a call came from is an address: the conversion that shows its function
$ erltrace -e -xerrtags -n 'BEGIN { printf("%s", ucaller); }'
!~ \[D_PRINTF_ARG_TYPE\] .*: use %A for the function at this address$
? 1
$ erltrace -e -xerrtags -n 'BEGIN { printf("%s", caller); }'
!~ \[D_PRINTF_ARG_TYPE\] .*: use %a for the function at this address$
? 1
# a variable that has got a term keeps its text
$ erltrace -e -xerrtags -n 'BEGIN { n = erlarg(0); printf("%d", n); }'
!~ \[D_PRINTF_ARG_TYPE\] .*'n' keeps the text of the term .*, as in 'int64_t n;'$
? 1
