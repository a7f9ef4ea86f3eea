# a newline in a string
< t.d
| BEGIN
| {
| 	trace("ab
| ");
| }
$ erltrace -e -xerrtags -s t.d
!~ \[D_STR_NL\] line 3: 
? 1
# a string without end
$ erltrace -e -xerrtags -n 'BEGIN { trace("ab); }'
!~ \[D_STR_NL\]
? 1
