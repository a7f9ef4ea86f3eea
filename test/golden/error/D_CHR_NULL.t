# no character at all
< t.d
| BEGIN { x = ''; }
$ erltrace -e -xerrtags -s t.d
!~ \[D_CHR_NULL\] line 1: 
? 1
