# no such option
< t.d
| #pragma D option nosuch
| BEGIN { exit(0); }
$ erltrace -e -xerrtags -s t.d
!~ \[D_PRAGMA_OPTSET\] line 1: 
? 1
# a value it cannot have
< t1.d
| BEGIN { exit(0); }
| #pragma D option strsize=lots
$ erltrace -e -xerrtags -s t1.d
!~ \[D_PRAGMA_OPTSET\] line 2: 
? 1
