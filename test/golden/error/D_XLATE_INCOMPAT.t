# a member that gets a value of another type
$ erltrace -e -xerrtags -n 'struct o { int m; }; translator struct o < int I > { m = "a"; }; BEGIN { exit(0); }'
!~ \[D_XLATE_INCOMPAT\]
? 1
