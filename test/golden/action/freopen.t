# freopen(): what follows goes to a file; "" brings it back
$ erltrace -wqn 'BEGIN { printf("one\n"); freopen("f.txt"); printf("two\n"); freopen(""); printf("three\n"); exit(0); }'; cat f.txt
> one
> three
>
> two
# it appends
$ erltrace -wqn 'BEGIN { freopen("f.txt"); printf("more\n"); freopen(""); exit(0); }'; cat f.txt
>
> two
> more
# its format is that of printf; one file after the other
$ erltrace -wqn 'BEGIN { freopen("g.%d", 1); printf("1\n"); freopen("g.%d", 2); printf("2\n"); freopen(""); exit(0); }'; grep . g.1 g.2
>
> g.1:1
> g.2:2
# printa(), trace() and system() follow
$ erltrace -wqn 'BEGIN { @["k"] = count(); freopen("h"); printa("%s\n", @); trace(5); printf("\n"); system("echo sys"); freopen(""); exit(0); }'; cat h
>
> k
> 5
> sys
# what is left at the end goes there too
$ erltrace -wqn 'BEGIN { @["k"] = count(); freopen("i"); exit(0); }'; cat i
>
>   k                                                                 1
# a file that cannot be opened: told, and the output stays
$ erltrace -wqn 'BEGIN { freopen("no/such/folder"); printf("here\n"); exit(0); }'
> here
>
!~ couldn't freopen\(\) "no/such/folder": No such file or directory
# a folder as a name is refused when compiling
$ erltrace -e -w -xerrtags -n 'BEGIN { freopen("."); }'
!~ \[D_FREOPEN_INVALID\]
? 1
# ftruncate(): the output file begins anew
$ erltrace -qo out.txt -n 'BEGIN { printf("gone\n"); ftruncate(); printf("kept\n"); exit(0); }'; cat out.txt
> kept
>
$ erltrace -wqn 'BEGIN { freopen("j"); printf("gone\n"); ftruncate(); printf("kept\n"); freopen(""); exit(0); }'; cat j
>
> kept
# a pipe has no length
$ erltrace -qn 'BEGIN { printf("a\n"); ftruncate(); printf("b\n"); exit(0); }' | cat
> a
> b
>
