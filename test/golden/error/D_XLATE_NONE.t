# no translator
$ erltrace -e -xerrtags -n 'struct o { int m; int u; }; translator struct o < int I > { m = I; }; BEGIN { trace(xlate <struct o>("a").m); }'
!~ \[D_XLATE_NONE\]
? 1
$ erltrace -e -xerrtags -n 'struct o { int m; }; BEGIN { trace(xlate <struct o>(1).m); }'
!~ \[D_XLATE_NONE\]
? 1
