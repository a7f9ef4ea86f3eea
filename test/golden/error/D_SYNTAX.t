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
