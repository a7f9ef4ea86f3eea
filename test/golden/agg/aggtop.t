# aggtop: so many rows, those with the largest values
$ erltrace -q -xaggtop=2 -n 'BEGIN { @["a"] = sum(1); @["b"] = sum(3); @["c"] = sum(2); exit(0); }'
>
>   c                                                                 2
>   b                                                                 3
$ erltrace -q -xaggtop=2 -xaggsortrev -n 'BEGIN { @["a"] = sum(1); @["b"] = sum(3); @["c"] = sum(2); exit(0); }'
>
>   b                                                                 3
>   c                                                                 2
# 0: all; more than there are: all
$ erltrace -q -xaggtop=0 -n 'BEGIN { @["a"] = sum(1); @["b"] = sum(3); exit(0); }'
>
>   a                                                                 1
>   b                                                                 3
$ erltrace -q -xaggtop=9 -n 'BEGIN { @["a"] = sum(1); @["b"] = sum(3); exit(0); }'
>
>   a                                                                 1
>   b                                                                 3
# rows of several aggregations, whole: by the one that they are sorted by
$ erltrace -q -xaggtop=1 -xaggsortpos=1 -xaggsortrev -n 'BEGIN { @n["a"] = sum(9); @us["a"] = sum(1); @n["b"] = sum(2); @us["b"] = sum(5); printa("%s %@d %@d\n", @n, @us); trunc(@n); trunc(@us); exit(0); }'
> b 2 5
>
# trunc() of one of them leaves the key in the others: it has no value, which is 0, as in DTrace
$ erltrace -qn 'BEGIN { @n["a"] = sum(9); @us["a"] = sum(1); @n["b"] = sum(2); @us["b"] = sum(5); trunc(@us, 1); printa("%s %@d %@d\n", @n, @us); trunc(@n); trunc(@us); exit(0); }'
> b 2 5
> a 9 0
>
# set by the script, while it runs
$ erltrace -qn 'BEGIN { @["a"] = sum(1); @["b"] = sum(2); setopt("aggtop", "1"); printa("%s %@d\n", @); setopt("aggtop", "0"); printa("%s %@d\n", @); exit(0); }'
> b 2
> a 1
> b 2
>
