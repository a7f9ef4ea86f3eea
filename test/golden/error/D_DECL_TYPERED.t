# a type declared twice
$ erltrace -e -xerrtags -n 'struct s { int a; }; struct s { int b; }; BEGIN { exit(0); }'
!~ \[D_DECL_TYPERED\]
? 1
$ erltrace -e -xerrtags -n 'enum e { A }; enum e { B }; BEGIN { exit(0); }'
!~ \[D_DECL_TYPERED\]
? 1
