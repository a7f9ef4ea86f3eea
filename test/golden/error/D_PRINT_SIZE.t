# print() of what has no size, or is too large
$ erltrace -e -xerrtags -n 'char a[100000]; BEGIN { print(a); }'
!~ \[D_PRINT_SIZE\]
? 1
