# long and short of what is no int
$ erltrace -e -xerrtags -n 'long float x; BEGIN { exit(0); }'
!~ \[D_DECL_LONGINT\]
? 1
$ erltrace -e -xerrtags -n 'long long double x; BEGIN { exit(0); }'
!~ \[D_DECL_LONGINT\]
? 1
$ erltrace -e -xerrtags -n 'long struct s x; BEGIN { exit(0); }'
!~ \[D_DECL_LONGINT\]
? 1
$ erltrace -e -xerrtags -n 'long string x; BEGIN { exit(0); }'
!~ \[D_DECL_LONGINT\]
? 1
