# what a script depends on is not there
< t.d
| #pragma D depends_on provider nosuch
| BEGIN { exit(0); }
$ erltrace -e -xerrtags -s t.d
!~ \[D_PRAGMA_DEPEND\] line 1: 
? 1
# a library
< t1.d
| #pragma D depends_on library nosuch.d
| BEGIN { exit(0); }
$ erltrace -e -xerrtags -s t1.d
!~ \[D_PRAGMA_DEPEND\] line 1: 
? 1
