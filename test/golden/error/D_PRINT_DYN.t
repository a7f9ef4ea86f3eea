# print() of a translated object
$ erltrace -e -xerrtags -n 'struct o { int m; }; translator struct o < int I > { m = I; }; BEGIN { print(xlate <struct o *>(1)); }'
!~ \[D_PRINT_DYN\]
? 1
