# words that do not go together
$ erltrace -e -xerrtags -n 'int char x; BEGIN { exit(0); }'
!~ \[D_DECL_COMBO\]
? 1
$ erltrace -e -xerrtags -n 'long long long x; BEGIN { exit(0); }'
!~ \[D_DECL_COMBO\]
? 1
$ erltrace -e -xerrtags -n 'int string x; BEGIN { exit(0); }'
!~ \[D_DECL_COMBO\]
? 1
# a word too often
$ erltrace -e -xerrtags -n 'short short x; BEGIN { exit(0); }'
!~ \[D_DECL_COMBO\]
? 1
$ erltrace -e -xerrtags -n 'signed signed x; BEGIN { exit(0); }'
!~ \[D_DECL_COMBO\]
? 1
$ erltrace -e -xerrtags -n 'unsigned int unsigned x; BEGIN { exit(0); }'
!~ \[D_DECL_COMBO\]
? 1
