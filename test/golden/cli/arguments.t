# script arguments: $1 a number or a name, $$1 a string
$ erltrace -qn 'BEGIN { printf("%d %s %s\n", $1, $$2, $$1); exit(0); }' 7 two
> 7 two 7
>
$ erltrace -q 5 -n 'BEGIN { printf("%d\n", $1 + 1); exit(0); }'
> 6
>
$ erltrace -qn 'BEGIN { printf("%s\n", $1); exit(0); }' '"quoted"'
> quoted
>
$ erltrace -qn 'BEGIN { $1 = 4; printf("%d\n", $1); exit(0); }' name
> 4
>
# $0 is the script
< s.d
| BEGIN { printf("%s %s\n", $$0, $$1); exit(0); }
$ erltrace -q -s s.d arg
> s.d arg
>
# missing, unused
$ erltrace -e -xerrtags -n 'BEGIN { trace($1); }'
!~ \[D_MACRO_UNDEF\]
? 1
$ erltrace -e -xerrtags -n 'BEGIN { }' unused
!~ \[D_MACRO_UNUSED\]
? 1
# bytes of any kind, spaces, nothing
$ erltrace -qn 'BEGIN { printf("[%s] [%s] [%s]\n", $$1, $$2, $$3); exit(0); }' 'a b' '' 'ä"\'
> [a b] [] [ä"\]
>
# #! scripts
< hello
| #!/usr/bin/env -S erltrace -qs
| BEGIN { printf("hello %s\n", $$1); exit(0); }
$ chmod +x hello; ./hello world
> hello world
>
# several scripts share the arguments, each may use some
$ erltrace -q -xargref -n 'BEGIN { printf("%d ", $1); }' -n 'BEGIN { printf("%d\n", $2); exit(0); }' 1 2
> 1 2
>
