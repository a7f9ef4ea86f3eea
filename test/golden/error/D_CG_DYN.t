# a translated object as a statement
< t.d
| struct o { int m; };
| translator struct o < int I > { m = I; };
| BEGIN
| {
| 	xlate <struct o>(1);
| }
$ erltrace -e -xerrtags -s t.d
!~ \[D_CG_DYN\] line 5: 
? 1
