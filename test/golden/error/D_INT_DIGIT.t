# digits that the base does not have
$ erltrace -e -xerrtags -n 'BEGIN { x = 08; }'
!~ \[D_INT_DIGIT\] '08' is not an integer: .*, l, ll, ul or ull\)$
? 1
# in a longer number
$ erltrace -e -xerrtags -n 'BEGIN { x = 0128; }'
!~ \[D_INT_DIGIT\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = 09u; }'
!~ \[D_INT_DIGIT\]
? 1
