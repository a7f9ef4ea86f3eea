# a clause that is not closed, found out at the number in the next probe's name
< t.d
| BEGIN
| {
| 	x = 5;
|
| tick-1s { exit(0); }
$ erltrace -e -xerrtags -s t.d
!~ \[D_SYNTAX\] line 5: '1s' is not an integer: .*; is a '}' missing in the clause that starts at line 1\?$
? 1
