# a name declared twice, differently
$ erltrace -e -xerrtags -n 'int x; string x; BEGIN { exit(0); }'
!~ \[D_DECL_IDRED\]
? 1
$ erltrace -e -xerrtags -n 'int pid; BEGIN { exit(0); }'
!~ \[D_DECL_IDRED\]
? 1
$ erltrace -e -xerrtags -n 'int trace; BEGIN { exit(0); }'
!~ \[D_DECL_IDRED\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = 1; } string x;'
!~ \[D_DECL_IDRED\]
? 1
$ erltrace -e -xerrtags -n 'inline int a = 1; inline int a = 2; BEGIN { exit(0); }'
!~ \[D_DECL_IDRED\]
? 1
$ erltrace -e -xerrtags -n 'enum e { A }; enum f { A }; BEGIN { exit(0); }'
!~ \[D_DECL_IDRED\]
? 1
# a typedef a second time, of another type or of the same
$ erltrace -e -xerrtags -n 'typedef int t; typedef char t; BEGIN { exit(0); }'
!~ \[D_DECL_IDRED\]
? 1
$ erltrace -e -xerrtags -n 'typedef int t; typedef int t; BEGIN { exit(0); }'
!~ \[D_DECL_IDRED\]
? 1
