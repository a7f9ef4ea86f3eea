# #error
< t.d
| BEGIN { exit(0); }
| #error not on this machine
$ erltrace -e -xerrtags -s t.d
!~ \[D_PRAGERR\] line 2: 
? 1
