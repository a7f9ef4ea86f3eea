# parameters without names where they need them
$ erltrace -e -xerrtags -n 'inline int f[int] = 1; BEGIN { exit(0); }'
!~ \[D_DECL_PROTO_FORM\]
? 1
$ erltrace -e -xerrtags -n 'provider p { probe a(int x) : (int); }; BEGIN { exit(0); }'
!~ \[D_DECL_PROTO_FORM\]
? 1
