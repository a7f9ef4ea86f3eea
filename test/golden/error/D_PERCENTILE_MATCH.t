# all uses of a name have the same percentages
$ erltrace -e -xerrtags -n 'BEGIN { @a = percentile(1, 50, 99); @a = percentile(1, 50, 99.9); }'
!~ \[D_PERCENTILE_MATCH\] the percentages of percentile\(\) for @a are 50, 99\.9 here and 50, 99 at line 1: all uses must agree
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @ = percentile(1); @ = percentile(1, 50); }'
!~ \[D_PERCENTILE_MATCH\] the percentages of percentile\(\) for @_ are 50 here and 50, 90, 99, 99\.9 at line 1: all uses must agree
? 1
# in the same order: it is that of the columns
$ erltrace -e -xerrtags -n 'BEGIN { @ = percentile(1, 50, 99); @ = percentile(1, 99, 50); }'
!~ \[D_PERCENTILE_MATCH\] the percentages of percentile\(\) for @_ are 99, 50 here and 50, 99 at line 1: all uses must agree
? 1
# written differently they are the same
$ erltrace -e -xerrtags -n 'BEGIN { @ = percentile(1, 50, 99.90); @ = percentile(1, 50.0, 99.9); @b = percentile(1); @b = percentile(2, 50, 90, 99, 99.9); }'
! erltrace: description 'BEGIN ' matched 1 probe
