# an argument in quotes is a string as $1, with the escapes of D
$ erltrace -qn 'BEGIN { printf("%s %d\n", $1, "some text" == $1); exit(0); }' '"some text"'
> some text 1
>
$ erltrace -qn 'BEGIN { printf("[%s]\n", $1); exit(0); }' '"a\tb\"c"'
> [a	b"c]
>
# what is neither a number nor a name is a string, as it is
$ erltrace -qn 'BEGIN { printf("[%s]\n", $1); exit(0); }' '"a" x'
> ["a" x]
>
$ for a in /tmp/x a-b 12ab 'two words' -; do erltrace -qn 'BEGIN { printf("[%s] %d", $1, strlen($1)); exit(0); }' -- "$a"; done
> [/tmp/x] 6
> [a-b] 3
> [12ab] 4
> [two words] 9
> [-] 1
# a name without quotes is a name
$ erltrace -qn 'BEGIN { word = 5; printf("%d\n", $1); exit(0); }' word
> 5
>
