# 99.9 is a percentage of percentile(), and nothing else
$ erltrace -e -xerrtags -n 'BEGIN { @ = percentile(1.5, 50); }'
!~ \[D_SYNTAX\] .*floating
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @ = percentile(1, 50 + 0.5); }'
!~ \[D_SYNTAX\] .*floating
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @ = percentile(1, -0.5); }'
!~ \[D_SYNTAX\] .*floating
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @ = lquantize(1, 0.5, 10); }'
!~ \[D_SYNTAX\] .*floating
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = 1.5; }'
!~ \[D_SYNTAX\] .*floating
? 1
$ erltrace -e -xerrtags -n 'BEGIN /1.5/ { }'
!~ \[D_SYNTAX\] .*floating
? 1
$ erltrace -e -xerrtags -n 'inline int x = 1.5; BEGIN { trace(x); }'
!~ \[D_SYNTAX\] .*floating
? 1
# a macro argument that is one is a string elsewhere, as every one that is neither number nor name
$ erltrace -qn 'BEGIN { printf("%s %d", $1, $1 == "1.5"); @ = percentile(7, $1); exit(0); }' 1.5
> 1.5 1
>
>          p1.5
>             7
# and one that is empty still is
$ erltrace -qn 'BEGIN { printf("[%s]\n", $1); exit(0); }' ''
> []
>
# other spellings of fractions are none
$ erltrace -e -xerrtags -n 'BEGIN { @ = percentile(1, 99.); }'
!~ \[D_SYNTAX\] .*floating
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @ = percentile(1, 9.9e1); }'
!~ \[D_SYNTAX\] .*floating
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @ = percentile(1, 99.9f); }'
!~ \[D_SYNTAX\] .*floating
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @ = percentile(1, 99.9.9); }'
!~ \[D_SYNTAX\] .*floating
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @ = percentile(1, .5); }'
!~ \[D_SYNTAX\] .*floating
? 1
$ erltrace -e -xerrtags -n 'int a[1.5]; BEGIN { }'
!~ \[D_DECL_ARRSUB\]
? 1
# in the tree it is as it was written
$ erltrace -e -q -xtree=1 -n 'BEGIN { @ = percentile(7, 99.90); }' 2>&1 | grep decimal
>         decimal 99.90 (line 1)
