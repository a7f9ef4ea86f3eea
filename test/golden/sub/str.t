# strlen, strjoin
$ erltrace -qn 'BEGIN { printf("%d %d %d\n", strlen("abc"), strlen(""), strlen(probename)); exit(0); }'
> 3 0 5
>
$ erltrace -qn 'BEGIN { printf("%s|%s|%s|\n", strjoin("ab", "cd"), strjoin("", "x"), strjoin(strjoin("a", "-"), strjoin("b", "c"))); exit(0); }'
> abcd|x|a-bc|
>
# cut at strsize
$ erltrace -xstrsize=8 -qn 'BEGIN { printf("%s %d\n", strjoin("01234", "56789"), strlen(strjoin("01234", "56789"))); exit(0); }'
> 01234567 8
>
# strchr, strrchr, strstr: from the place found on, NULL where there is none
$ erltrace -qn 'BEGIN { c = 0x62; printf("%s %s %s %d %d\n", strchr("abcabc", c), strrchr("abcabc", c), strchr("abc", 0x61), strchr("abc", 0x78) == NULL, strrchr("abc", 0x78) == NULL); exit(0); }'
> bcabc bc abc 1 1
>
$ erltrace -qn 'BEGIN { printf("%s|%s|%s|%d\n", strstr("foobar", "ob"), strstr("foobar", ""), strstr("foobar", "foobar"), strstr("foobar", "x") == NULL); exit(0); }'
> obar|foobar|foobar|1
>
# not found: NULL
$ erltrace -qn 'BEGIN { printf("%d\n", strstr("abc", "x") == NULL); exit(0); }'
> 1
>
# tolower, toupper: ASCII letters only
$ erltrace -qn 'BEGIN { printf("%s %s %s\n", tolower("ABC-xyz-09[]"), toupper("abc-XYZ-09{}"), toupper("é")); exit(0); }'
> abc-xyz-09[] ABC-XYZ-09{} é
>
