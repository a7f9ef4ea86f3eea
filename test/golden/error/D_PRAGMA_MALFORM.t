# a pragma without its words
< t.d
| #pragma D
| BEGIN { exit(0); }
$ erltrace -e -xerrtags -s t.d
!~ \[D_PRAGMA_MALFORM\] line 1: 
? 1
# an option without name
< t1.d
| #pragma D option
| BEGIN { exit(0); }
$ erltrace -e -xerrtags -s t1.d
!~ \[D_PRAGMA_MALFORM\] line 1: 
? 1
# attributes that are none
< t2.d
| int x;
| #pragma D attributes Solid/Solid/Common x
| BEGIN { exit(0); }
$ erltrace -e -xerrtags -s t2.d
!~ \[D_PRAGMA_MALFORM\] line 2: 
? 1
# a version that is none
< t3.d
| int x;
| #pragma D binding "one" x
| BEGIN { exit(0); }
$ erltrace -e -xerrtags -s t3.d
!~ \[D_PRAGMA_MALFORM\] line 2: 
? 1
# a line without number
< t4.d
| #line x
| BEGIN { exit(0); }
$ erltrace -e -xerrtags -s t4.d
!~ \[D_PRAGMA_MALFORM\] line 1: 
? 1
