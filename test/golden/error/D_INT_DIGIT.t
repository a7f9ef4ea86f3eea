# digits that the base does not have
$ erltrace -e -xerrtags -n 'BEGIN { x = 08; }'
!~ \[D_INT_DIGIT\] '08' is not an integer: .*, l, ll, ul or ull\)$
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = 0x; }'
!~ \[D_INT_DIGIT\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = 0xfg; }'
!~ \[D_INT_DIGIT\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = 12abc; }'
!~ \[D_INT_DIGIT\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = 1lll; }'
!~ \[D_INT_DIGIT\]
? 1
