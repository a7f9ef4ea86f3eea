# substr(s, from[, length])
$ erltrace -qn 'BEGIN { printf("%s|%s|%s|%s|\n", substr("foobar", 2), substr("foobar", 2, 3), substr("foobar", 0), substr("foobar", 0, 0)); exit(0); }'
> obar|oba|foobar||
>
# negative from: from the end
$ erltrace -qn 'BEGIN { printf("%s|%s|%s|%s|\n", substr("foobar", -2), substr("foobar", -4, 2), substr("foobar", -6), substr("foobar", -1, 5)); exit(0); }'
> ar|ob|foobar|r|
>
# negative length: so many are left off at the end
$ erltrace -qn 'BEGIN { printf("%s|%s|%s|%s|\n", substr("foobar", 2, -1), substr("foobar", 0, -6), substr("foobar", -3, -2), substr("foobar", 2, -10)); exit(0); }'
> oba||b||
>
# beyond the ends
$ erltrace -qn 'BEGIN { printf("%s|%s|%s|%s|%s|\n", substr("foobar", 6), substr("foobar", 100), substr("foobar", -10), substr("foobar", -10, 5), substr("foobar", -10, 2)); exit(0); }'
> ||foobar|f||
>
$ erltrace -qn 'BEGIN { s = "abc"; i = 1; n = 100; printf("%s|%s|\n", substr(s, i, n), substr("", 0, 1)); exit(0); }'
> bc||
>
