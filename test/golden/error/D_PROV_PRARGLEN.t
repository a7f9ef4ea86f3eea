# more than ten arguments
$ erltrace -e -xerrtags -n 'provider p { probe a(int a, int b, int c, int d, int e, int f, int g, int h, int i, int j, int k); }; BEGIN { exit(0); }'
!~ \[D_PROV_PRARGLEN\]
? 1
