# a provider with a bad name
$ erltrace -e -xerrtags -n 'provider p1 { probe a(); }; BEGIN { exit(0); }'
!~ \[D_PROV_BADNAME\]
? 1
