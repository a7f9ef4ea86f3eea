# an aggregating function as a statement
$ erltrace -e -xerrtags -n 'BEGIN { count(); }'
!~ \[D_CG_EXPR\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { avg(1); }'
!~ \[D_CG_EXPR\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { quantize(1, 2); }'
!~ \[D_CG_EXPR\]
? 1
# what no expression can have in it
$ erltrace -e -xerrtags -n 'BEGIN { (void)trace(1); }'
!~ \[D_CG_EXPR\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @a = count(); (void)@a; }'
!~ \[D_CG_EXPR\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(stack()); }'
!~ \[D_CG_EXPR\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { print(sym(1)); }'
!~ \[D_CG_EXPR\]
? 1
