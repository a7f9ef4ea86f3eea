# 0 has no nearest rank: min() is the smallest; above 100 there is none either
$ erltrace -e -xerrtags -n 'BEGIN { @ = percentile(1, 0); }'
!~ \[D_PERCENTILE_VAL\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @ = percentile(1, 0.0); }'
!~ \[D_PERCENTILE_VAL\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @ = percentile(1, -1); }'
!~ \[D_PERCENTILE_VAL\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @ = percentile(1, 50, 101); }'
!~ \[D_PERCENTILE_VAL\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @ = percentile(1, 100.1); }'
!~ \[D_PERCENTILE_VAL\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @ = percentile(1, 18446744073709551615u); }'
!~ \[D_PERCENTILE_VAL\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @ = percentile(1, 99999999999999999999999999999.9); }'
!~ \[D_PERCENTILE_VAL\]
? 1
# digits that would not count
$ erltrace -e -xerrtags -n 'BEGIN { @ = percentile(1, 99.1234567); }'
!~ \[D_PERCENTILE_VAL\]
? 1
# zeros do not
$ erltrace -e -xerrtags -n 'BEGIN { @ = percentile(1, 99.1234560, 100.00000000, 0.000001); }'
! erltrace: description 'BEGIN ' matched 1 probe
# at most ten, and a value
$ erltrace -e -xerrtags -n 'BEGIN { @ = percentile(1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11); }'
!~ \[D_PROTO_LEN\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @ = percentile(); }'
!~ \[D_PROTO_LEN\]
? 1
