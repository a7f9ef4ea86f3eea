# stacktop: a table of functions, those that are innermost most often last
# not in the kernel: it runs the command's own BEGIN
$ erltrace -q -xstacktop=100 -n 'BEGIN { @[ustack()] = count(); @[ustack()] = count(); exit(0); }' | grep -E 'FUNCTION|main|in all'
>    OWN %    ALL %          OWN          ALL  FUNCTION
~ ^     0.0    100.0            0            2  erltrace`main$
>                              2               in all
