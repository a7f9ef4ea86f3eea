# attributes of a name that never comes
< t.d
| #pragma D attributes Stable/Stable/Common nosuch
| BEGIN { exit(0); }
$ erltrace -e -xerrtags -s t.d
!~ \[D_PRAGMA_UNUSED\]
? 1
