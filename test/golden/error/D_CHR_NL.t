# a newline in a character constant
< t.d
| BEGIN { x = 'a
| '; }
$ erltrace -e -xerrtags -s t.d
!~ \[D_CHR_NL\] line 1: 
? 1
