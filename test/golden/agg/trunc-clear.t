# trunc(@, n) keeps the n largest, trunc(@, -n) the n smallest, trunc(@) none
$ erltrace -qn 'BEGIN { @["a"] = sum(1); @["b"] = sum(2); @["c"] = sum(3); @["d"] = sum(4); trunc(@, 2); exit(0); }'
>
>   c                                                                 3
>   d                                                                 4
$ erltrace -qn 'BEGIN { @["a"] = sum(1); @["b"] = sum(2); @["c"] = sum(3); @["d"] = sum(4); trunc(@, -2); exit(0); }'
>
>   a                                                                 1
>   b                                                                 2
$ erltrace -qn 'BEGIN { @["a"] = sum(1); @["b"] = sum(2); @["c"] = sum(3); @["d"] = sum(4); trunc(@); exit(0); }'
>
$ erltrace -qn 'BEGIN { @["a"] = sum(1); @["b"] = sum(2); @["c"] = sum(3); @["d"] = sum(4); trunc(@, 0); exit(0); }'
>
$ erltrace -qn 'BEGIN { @["a"] = sum(1); @["b"] = sum(2); @["c"] = sum(3); @["d"] = sum(4); trunc(@, 10); exit(0); }'
>
>   a                                                                 1
>   b                                                                 2
>   c                                                                 3
>   d                                                                 4
# options of sorting do not change what trunc() keeps
$ erltrace -q -xaggsortrev -xaggsortkey -n 'BEGIN { @["a"] = sum(1); @["b"] = sum(2); @["c"] = sum(3); @["d"] = sum(4); trunc(@, 1); exit(0); }'
>
>   d                                                                 4
# clear() keeps the keys
$ erltrace -qn 'BEGIN { @["a"] = sum(5); @["b"] = sum(6); clear(@); exit(0); }'
>
>   a                                                                 0
>   b                                                                 0
# of every function
$ erltrace -qn 'BEGIN { @a = min(5); @b = max(-5); @c = avg(7); @d = stddev(1); clear(@a); clear(@b); clear(@c); clear(@d); printa("%@d", @a); printa(" %@d", @b); printa(" %@d", @c); printa(" %@d\n", @d); exit(0); }'
> 0 0 0 0
>
$ erltrace -qn 'BEGIN { @ = quantize(5); clear(@); exit(0); }'
>
>
>            value  ------------- Distribution ------------- count    
>               -1 |                                         0        
>                0 |                                         0        
>                1 |                                         0        
>
$ erltrace -qn 'BEGIN { @ = lquantize(5, 0, 10); clear(@); exit(0); }'
>
>
>            value  ------------- Distribution ------------- count    
>              < 0 |                                         0        
>                0 |                                         0        
>                1 |                                         0        
>
