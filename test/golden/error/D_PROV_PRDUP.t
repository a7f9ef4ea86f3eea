# a probe declared twice
$ erltrace -e -xerrtags -n 'provider p { probe a(int x); probe a(int x); }; BEGIN { exit(0); }'
!~ \[D_PROV_PRDUP\]
? 1
