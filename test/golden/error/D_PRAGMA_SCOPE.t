# attributes of a name that is not the script's
< t.d
| #pragma D attributes Stable/Stable/Common pid
| BEGIN { exit(0); }
$ erltrace -e -xerrtags -s t.d
!~ \[D_PRAGMA_SCOPE\] line 1: 
? 1
