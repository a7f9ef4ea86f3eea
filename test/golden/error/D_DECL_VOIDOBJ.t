# a variable of type void
$ erltrace -e -xerrtags -n 'void x; BEGIN { exit(0); }'
!~ \[D_DECL_VOIDOBJ\]
? 1
$ erltrace -e -xerrtags -n 'self void x; BEGIN { exit(0); }'
!~ \[D_DECL_VOIDOBJ\]
? 1
$ erltrace -e -xerrtags -n 'struct s { void v; }; BEGIN { exit(0); }'
!~ \[D_DECL_VOIDOBJ\]
? 1
$ erltrace -e -xerrtags -n 'void a[3]; BEGIN { exit(0); }'
!~ \[D_DECL_VOIDOBJ\]
? 1
# a function as a member
$ erltrace -e -xerrtags -n 'struct s { int f(int); }; BEGIN { exit(0); }'
!~ \[D_DECL_VOIDOBJ\]
? 1
