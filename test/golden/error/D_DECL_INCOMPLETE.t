# a variable of a type whose members are not known
$ erltrace -e -xerrtags -n 'struct undefined_s x; BEGIN { exit(0); }'
!~ \[D_DECL_INCOMPLETE\]
? 1
$ erltrace -e -xerrtags -n 'union u x; BEGIN { exit(0); }'
!~ \[D_DECL_INCOMPLETE\]
? 1
$ erltrace -e -xerrtags -n 'struct s { struct s inner; }; BEGIN { exit(0); }'
!~ \[D_DECL_INCOMPLETE\]
? 1
$ erltrace -e -xerrtags -n 'struct undefined_s a[3]; BEGIN { exit(0); }'
!~ \[D_DECL_INCOMPLETE\]
? 1
