# signed and unsigned of what is no integer
$ erltrace -e -xerrtags -n 'unsigned float x; BEGIN { exit(0); }'
!~ \[D_DECL_SIGNINT\]
? 1
$ erltrace -e -xerrtags -n 'signed struct s x; BEGIN { exit(0); }'
!~ \[D_DECL_SIGNINT\]
? 1
$ erltrace -e -xerrtags -n 'unsigned string x; BEGIN { exit(0); }'
!~ \[D_DECL_SIGNINT\]
? 1
$ erltrace -e -xerrtags -n 'unsigned _Bool x; BEGIN { exit(0); }'
!~ \[D_DECL_SIGNINT\]
? 1
