# what no printa() printed prints at the end, in the order of the script, without a line between
$ erltrace -qn 'BEGIN { @b["k"] = count(); @a = sum(5); @c["z"] = max(1); exit(0); }'
>
>   k                                                                 1
>                 5
>   z                                                                 1
# what was printed does not print again
$ erltrace -qn 'BEGIN { @a = count(); @b = count(); printa("a %@d\n", @a); exit(0); }'
> a 1
>
>                 1
$ erltrace -qn 'BEGIN { @a = count(); printa(@a); printa(@a); exit(0); }'
>
>                 1
>
>                 1
>
# a printa() before the aggregation is known is an error
$ erltrace -qn 'BEGIN { printa(@a); exit(0); } END { @a = count(); }' 2>&1 | grep -c 'not defined'
> 1
# nothing gathered, nothing printed but the blank line
$ erltrace -qn 'BEGIN /0/ { @a = count(); } BEGIN { exit(0); }'
>
# END still counts
$ erltrace -qn 'BEGIN { @ = count(); exit(0); } END { @ = count(); }'
>
>                 2
# printa() in END is the last word
$ erltrace -qn 'BEGIN { @["x"] = count(); exit(0); } END { printa("%s=%@d\n", @); }'
> x=1
>
