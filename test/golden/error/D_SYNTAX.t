# what is no D
$ erltrace -e -xerrtags -n 'BEGIN { x = ; }'
!~ \[D_SYNTAX\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = 1'
!~ \[D_SYNTAX\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { (1 + 2; }'
!~ \[D_SYNTAX\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(1) trace(2); }'
!~ \[D_SYNTAX\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { while (1) ; }'
!~ \[D_SYNTAX\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = 1 @ 2; }'
!~ \[D_SYNTAX\]
? 1
$ erltrace -e -xerrtags -n '{ exit(0); }'
!~ \[D_SYNTAX\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { else x = 1; }'
!~ \[D_SYNTAX\]
? 1
$ erltrace -e -xerrtags -n 'int x = 5; BEGIN { exit(0); }'
!~ \[D_SYNTAX\]
? 1
# statements without braces
< t.d
| END
| {
| }
| BEGIN exit(0);
$ erltrace -e -xerrtags -s t.d
!~ \[D_SYNTAX\] line 4: 
? 1
# a format that is not well formed
$ erltrace -e -xerrtags -n 'BEGIN { printf("%"); }'
!~ \[D_SYNTAX\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { printf("%q", 1); }'
!~ \[D_SYNTAX\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { printf("%5%"); }'
!~ \[D_SYNTAX\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { printf("%1$d", 1); }'
!~ \[D_SYNTAX\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { printf("%**d", 1, 2, 3); }'
!~ \[D_SYNTAX\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { printf("%1.2.3d", 1); }'
!~ \[D_SYNTAX\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { @a = count(); printa("%@q", @a); }'
!~ \[D_SYNTAX\]
? 1
# a number and a word in one
$ erltrace -e -xerrtags -n 'BEGIN { x = 10ms; }'
!~ \[D_SYNTAX\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = 0abc; }'
!~ \[D_SYNTAX\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = 12abc; }'
!~ \[D_SYNTAX\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = 0x; }'
!~ \[D_SYNTAX\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = 0xfg; }'
!~ \[D_SYNTAX\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = 1lll; }'
!~ \[D_SYNTAX\]
? 1
# no such type
$ erltrace -e -xerrtags -n 'struct s { nosuch_t a; }; BEGIN { exit(0); }'
!~ \[D_SYNTAX\]
? 1
$ erltrace -e -xerrtags -n 'self nosuch_t x; BEGIN { exit(0); }'
!~ \[D_SYNTAX\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = (nosuch_t)1; }'
!~ \[D_SYNTAX\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(offsetof(nosuch_t, a)); }'
!~ \[D_SYNTAX\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(xlate <nosuch_t>(1).a); }'
!~ \[D_SYNTAX\]
? 1
$ erltrace -e -xerrtags -n 'translator nosuch_t < int I > { a = I; }; BEGIN { exit(0); }'
!~ \[D_SYNTAX\]
? 1
$ erltrace -e -xerrtags -n 'inline nosuch_t x = 1; BEGIN { exit(0); }'
!~ \[D_SYNTAX\]
? 1
