# a precision of 0 is none, also by *
$ erltrace -qn 'BEGIN { printf("[%.0s] [%8.0s] [%-8.0s] [%.s] [%.*s] [%.0S]\n", "hello", "hello", "hello", "hello", 0, "hello", "a\tb"); exit(0); }'
> [hello] [   hello] [hello   ] [hello] [hello] [a\tb]
>
$ erltrace -qn 'BEGIN { printf("[%.0d] [%3.0x] [%.0u] [%.*d]\n", 0, 0, 0, 0, 0); exit(0); }'
> [0] [  0] [0] [0]
>
# of keys too
$ erltrace -qn 'BEGIN { @["key"] = count(); printa("[%.0s] [%@.0d]\n", @); exit(0); }'
> [key] [1]
>
