# more than eight
< t.d
| BEGIN { x = 'abcdefghi'; }
$ erltrace -e -xerrtags -s t.d
!~ \[D_CHR_OFLOW\] line 1: 
? 1
