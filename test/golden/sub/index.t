# index() and rindex(): from 0, -1 where there is none
$ erltrace -qn 'BEGIN { printf("%d %d %d %d\n", index("BANANA", "AN"), index("BANANA", "X"), rindex("BANANA", "AN"), rindex("BANANA", "X")); exit(0); }'
> 1 -1 3 -1
>
# a start: index looks from there on, rindex from there back
$ erltrace -qn 'BEGIN { printf("%d %d %d %d %d\n", index("BANANA", "AN", 1), index("BANANA", "AN", 2), index("BANANA", "AN", 4), index("BANANA", "B", -5), index("BANANA", "A", 100)); exit(0); }'
> 1 3 -1 0 -1
>
$ erltrace -qn 'BEGIN { printf("%d %d %d %d %d\n", rindex("BANANA", "AN", 3), rindex("BANANA", "AN", 2), rindex("BANANA", "AN", 0), rindex("BANANA", "B", -1), rindex("BANANA", "A", 100)); exit(0); }'
> 3 1 -1 -1 5
>
# the empty string is everywhere, as Perl has it
$ erltrace -qn 'BEGIN { printf("%d %d %d %d ", index("foo", ""), index("foo", "", 2), index("foo", "", 9), index("", "")); printf("%d %d %d %d\n", rindex("foo", ""), rindex("foo", "", 1), rindex("foo", "", -4), rindex("", "")); exit(0); }'
> 0 2 3 0 3 1 0 0
>
# longer than the text, the whole text
$ erltrace -qn 'BEGIN { printf("%d %d %d %d\n", index("ab", "abc"), index("abc", "abc"), rindex("abc", "abc"), rindex("", "a")); exit(0); }'
> -1 0 0 -1
>
# by variables
$ erltrace -qn 'BEGIN { s = "hello"; t = "l"; i = 3; printf("%d %d %d\n", index(s, t), index(s, t, i), rindex(s, t, i - 1)); exit(0); }'
> 2 3 2
>
