# by number: BEGIN, END and ERROR are the first three
$ erltrace -qn '1 { printf("%s %d\n", probename, id); exit(0); } 2 { printf("%s %d\n", probename, id); }'
> BEGIN 1
> END 2
>
$ erltrace -q -i '1 { printf("%s\n", probename); exit(0); }'
> BEGIN
>
# no such number
$ erltrace -e -xerrtags -n '999999999 { exit(0); }'
!~ \[D_PDESC_(ZERO|INVAL)\]
? 1
