# a control line that is none
< t.d
| #include <stdio.h>
| BEGIN { exit(0); }
$ erltrace -e -xerrtags -s t.d
!~ \[D_PRAGCTL_INVAL\] line 1: 
? 1
# another
< t1.d
| BEGIN { exit(0); }
| #nonsense
$ erltrace -e -xerrtags -s t1.d
!~ \[D_PRAGCTL_INVAL\] line 2: 
? 1
