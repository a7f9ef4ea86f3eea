# escapes of strings: octal, hexadecimal, the named ones
$ erltrace -qn 'BEGIN { printf("%s|\n", "\101\x42C\"\\"); exit(0); }'
> ABC"\|
>
# an octal escape has three digits at most
$ erltrace -qn 'BEGIN { printf("%s|%s|\n", "\1012", "\60\061"); exit(0); }'
> A2|01|
>
$ erltrace -qn 'BEGIN { printf("%d %d %d %d\n", strlen("\a\b\f\n\r\t\v"), strlen("a\tb"), strlen(""), strlen("\\n")); exit(0); }'
> 7 3 0 2
>
# an unknown escape stays two characters
$ erltrace -qn 'BEGIN { printf("%s|%d\n", "\q\%", strlen("\q")); exit(0); }'
> \q\%|2
>
# a NUL ends the string
$ erltrace -qn 'BEGIN { printf("%s|%d\n", "ab\0cd", strlen("ab\0cd")); exit(0); }'
> ab|2
>
# bytes that are not ASCII pass through
$ erltrace -qn 'BEGIN { printf("%s %d\n", "grüße", strlen("ü")); exit(0); }'
> grüße 2
>
