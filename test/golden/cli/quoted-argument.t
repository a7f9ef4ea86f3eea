# an argument in quotes is a string as $1, with the escapes of D
$ erltrace -qn 'BEGIN { printf("%s %d\n", $1, "some text" == $1); exit(0); }' '"some text"'
> some text 1
>
$ erltrace -qn 'BEGIN { printf("[%s]\n", $1); exit(0); }' '"a\tb\"c"'
> [a	b"c]
>
# not to its end: neither a string nor anything else
$ erltrace -e -xerrtags -n 'BEGIN { trace($1); }' '"a" x'
!~ \[D_SYNTAX\] .*\$1
? 1
# a name without quotes is a name
$ erltrace -qn 'BEGIN { word = 5; printf("%d\n", $1); exit(0); }' word
> 5
>
