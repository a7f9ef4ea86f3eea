# a translated argument with the name of no native one
$ erltrace -e -xerrtags -n 'provider p { probe a(int x) : (int y); }; BEGIN { exit(0); }'
!~ \[D_DECL_PROTO_NAME\]
? 1
