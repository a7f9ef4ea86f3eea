# offsetof() of a member that is not there
$ erltrace -e -xerrtags -n 'struct s { int a; }; BEGIN { trace(offsetof(struct s, b)); }'
!~ \[D_UNKNOWN\]
? 1
# words that make no type
$ erltrace -e -xerrtags -n 'long short x; BEGIN { exit(0); }'
!~ \[D_UNKNOWN\]
? 1
$ erltrace -e -xerrtags -n 'short long int x; BEGIN { exit(0); }'
!~ \[D_UNKNOWN\]
? 1
$ erltrace -e -xerrtags -n 'signed unsigned x; BEGIN { exit(0); }'
!~ \[D_UNKNOWN\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = (unsigned signed)1; }'
!~ \[D_UNKNOWN\]
? 1
# an enumerator that its enum has already
$ erltrace -e -xerrtags -n 'enum e { A, B, A }; BEGIN { exit(0); }'
!~ \[D_UNKNOWN\]
? 1
$ erltrace -e -xerrtags -n 'enum { A = 1, A = 1 }; BEGIN { exit(0); }'
!~ \[D_UNKNOWN\]
? 1
