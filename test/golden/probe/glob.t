# parts of a description are right-aligned; an empty one is any
$ erltrace -qn 'BEGIN { printf("1\n"); } :BEGIN { printf("2\n"); } ::BEGIN { printf("3\n"); } :::BEGIN { printf("4\n"); } dtrace:::BEGIN { printf("5\n"); exit(0); }'
> 1
> 2
> 3
> 4
> 5
>
# globs: * ? [a-z] [!..] \c
$ erltrace -qn 'B* { printf("1\n"); } B?GIN { printf("2\n"); } [A-C]EGIN { printf("3\n"); } [!A]EGIN { printf("4\n"); } dt*:::BEGI\N { printf("5\n"); } d*e:*:*:B*N { printf("6\n"); exit(0); }'
> 1
> 2
> 3
> 4
> 5
> 6
>
# a class that excludes it, and a literal star that is none
$ erltrace -Z -qn '[!B]EGIN { printf("no\n"); } B\* { printf("no\n"); } BEGIN { printf("done\n"); exit(0); }'
> done
>
# globs match whole names only, and case counts
$ erltrace -Z -qn 'BEG { printf("no\n"); } begin { printf("no\n"); } EGIN { printf("no\n"); } BEGIN { printf("done\n"); exit(0); }'
> done
>
