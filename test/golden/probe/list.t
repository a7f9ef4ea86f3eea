# comma lists: one clause for several probes
$ erltrace -qn 'BEGIN, END { printf("%s\n", probename); } BEGIN { exit(0); }'
> BEGIN
> END
>
$ erltrace -qn 'dtrace:::BEGIN,dtrace:::END{ printf("%s %s\n", probeprov, probename); } BEGIN { exit(0); }'
> dtrace BEGIN
> dtrace END
>
# a glob that matches both
$ erltrace -qn 'dtrace:::[BE]*[ND] { printf("%s\n", probename); } BEGIN { exit(0); }'
> BEGIN
> END
>
