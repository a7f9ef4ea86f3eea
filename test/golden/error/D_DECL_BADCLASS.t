# storage classes that mean nothing in D
$ erltrace -e -xerrtags -n 'static int x; BEGIN { exit(0); }'
!~ \[D_DECL_BADCLASS\]
? 1
$ erltrace -e -xerrtags -n 'auto int x; BEGIN { exit(0); }'
!~ \[D_DECL_BADCLASS\]
? 1
$ erltrace -e -xerrtags -n 'register int x; BEGIN { exit(0); }'
!~ \[D_DECL_BADCLASS\]
? 1
# without a type, too, or with one that is not there
$ for d in 'static x' 'auto x' 'register *x' 'static' 'static nosuch x' 'inline auto x = 3'; do erltrace -e -xerrtags -n "$d; BEGIN { exit(0); }" 2>&1; done | grep -c D_DECL_BADCLASS
> 6
$ erltrace -e -xerrtags -n 'struct s { static int a; }; BEGIN { exit(0); }'
!~ \[D_DECL_BADCLASS\]
? 1
