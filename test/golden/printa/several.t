# several aggregations: rows by key, a value a column; a missing one is 0
$ erltrace -qn 'BEGIN { @a["x"] = sum(1); @b["x"] = sum(2); @b["y"] = sum(4); @a["z"] = sum(5); printa(@a, @b); exit(0); }'
>
>   y                                                                 0                4
>   x                                                                 1                2
>   z                                                                 5                0
>
# with a format each %@ takes the next, the last one again and again
$ erltrace -qn 'BEGIN { @a["x"] = sum(1); @b["x"] = sum(2); @c["x"] = sum(3); printa("%s %@d %@d %@d\n", @a, @b, @c); printa("%@d %s %@d\n", @c, @a); printa("%@d %@d %@d\n", @a, @b); printa("%@d\n", @b, @c); exit(0); }'
> x 1 2 3
> 3 x 1
> 1 2 2
> 2
>
# keyless ones
$ erltrace -qn 'BEGIN { @a = count(); @b = sum(7); printa("%@d of %@d\n", @a, @b); printa(@a, @b); exit(0); }'
> 1 of 7
>
>                 1                7
>
# different functions, one divided
$ erltrace -qn 'BEGIN { @n["x"] = count(); @t["x"] = sum(3000); @avg["x"] = avg(3000); normalize(@t, 1000); printa("%s %@d %@d %@d\n", @n, @t, @avg); exit(0); }'
> x 1 3 3000
>
# all of them are printed then: nothing at the end
$ erltrace -qn 'BEGIN { @a["x"] = count(); @b["x"] = count(); printa("%s\n", @a, @b); exit(0); }'
> x
>
# a number beside a distribution
$ erltrace -qn 'BEGIN { @a["x"] = count(); @q["x"] = quantize(1); printa(@a, @q); exit(0); }'
>
>   x                                                                 1
>            value  ------------- Distribution ------------- count    
>                0 |                                         0        
>                1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1        
>                2 |                                         0        
>
>
