# a pragma that D does not have
< t.d
| #pragma D nonsense x
| BEGIN { exit(0); }
$ erltrace -e -xerrtags -s t.d
!~ \[D_PRAGMA_INVAL\] line 1: 
? 1
# a kind of dependence that there is not
< t1.d
| #pragma D depends_on weather fair
| BEGIN { exit(0); }
$ erltrace -e -xerrtags -s t1.d
!~ \[D_PRAGMA_INVAL\] line 1: 
? 1
