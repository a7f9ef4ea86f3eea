# no translator for an argument
$ erltrace -e -xerrtags -n 'struct s { int a; }; struct t { int b; }; provider p { probe a(struct s *x) : (struct t *x); }; BEGIN { exit(0); }'
!~ \[D_PROV_PRXLATOR\]
? 1
