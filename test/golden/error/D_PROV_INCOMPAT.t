# the same provider with other arguments
$ erltrace -e -xerrtags -n 'provider p { probe a(int x); }; provider p { probe a(char *x); }; BEGIN { exit(0); }'
!~ \[D_PROV_INCOMPAT\]
? 1
$ erltrace -e -xerrtags -n 'provider p { probe a(int x); }; provider p { probe a(int x, int y); }; BEGIN { exit(0); }'
!~ \[D_PROV_INCOMPAT\]
? 1
