# an argument too large, or of too high a number
$ erltrace -e -xerrtags -n 'BEGIN { trace($1); }' 99999999999999999999
!~ \[D_MACRO_OFLOW\]
? 1
# a number that no argument has
$ erltrace -e -xerrtags -n 'BEGIN { trace($99999999999); }'
!~ \[D_MACRO_OFLOW\]
? 1
