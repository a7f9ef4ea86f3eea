# #error
< t.d
| BEGIN { exit(0); }
| #error not on this machine
$ erltrace -e -xerrtags -s t.d
!~ \[D_PRAGERR\] line 2: 
? 1
# #pragma D error
< t1.d
| BEGIN { exit(0); }
| #pragma D error not on this machine
$ erltrace -e -xerrtags -s t1.d
!~ \[D_PRAGERR\] line 2: #error: not on this machine$
? 1
