# stacktop: a table of functions, those that are innermost most often last
# not in the kernel: it runs the command's own BEGIN
$ erltrace -q -xstacktop=100 -n 'BEGIN { @[ustack()] = count(); @[ustack()] = count(); exit(0); }' | grep -E 'FUNCTION|main|in all'
>    OWN %    ALL %          OWN          ALL  FUNCTION
~ ^     0.0    100.0            0            2  erltrace`main$
>                              2               in all

# the busiest first, with aggsortrev: the sum is below in both
# not in the kernel: it runs the command's own BEGIN
$ erltrace -q -xstacktop=100 -xaggsortrev -n 'BEGIN { @[ustack()] = count(); exit(0); }' | grep -vE 'main|start' | awk 'NR == 3 { print $1 } END { print $0 }'
> 100.0
>                              1               in all
# of fewer rows than functions a third is for those that are in most stacks
$ erltrace -q -xstacktop=3 -n 'BEGIN { @[ustack()] = count(); exit(0); }' | awk '$2 == "100.0"' | wc -l
> 3
