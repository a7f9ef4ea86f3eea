# %@d takes the percentages one after the other
$ erltrace -qn 'BEGIN { @["a"] = percentile(5, 50, 99); @["a"] = percentile(3, 50, 99); printa("%s: p50 %@d, p99 %5@d, hex %@x\n", @); exit(0); }'
> a: p50 3, p99     5, hex 3
>
# then the next aggregation
$ erltrace -qn 'BEGIN { @n["a"] = count(); @p["a"] = percentile(5, 50, 99); @p["a"] = percentile(3, 50, 99); @m["a"] = max(7); printa("%s %@d %@d %@d %@d\n", @n, @p, @m); exit(0); }'
> a 1 3 5 7
>
# without a format several aggregations have columns, each with its heading; a missing key is 0
$ erltrace -qn 'BEGIN { @n["a"] = count(); @n["b"] = count(); @p["a"] = percentile(5, 50, 99.9); printa(@n, @p); exit(0); }'
>
>
>               key            count          p50        p99.9
>                 b                1            0            0
>                 a                1            5            5
>
# beside a distribution they are named
$ erltrace -qn 'BEGIN { @p["a"] = percentile(5, 50, 99.9); @q["a"] = quantize(5); printa(@p, @q); exit(0); }'
>
>   a                                                  p50=5 p99.9=5
>            value  ------------- Distribution ------------- count    
>                2 |                                         0        
>                4 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1        
>                8 |                                         0        
>
>
# aggsortpos: the first percentage counts
$ erltrace -q -xaggsortpos=1 -n 'BEGIN { @n["a"] = sum(1); @n["b"] = sum(2); @p["a"] = percentile(9, 50); @p["b"] = percentile(5, 50); printa(@n, @p); exit(0); }'
>
>
>               key              sum          p50
>                 b                2            5
>                 a                1            9
>
# -xaggpercpu: the share of each thread
$ erltrace -q -xaggpercpu -n 'BEGIN { @["a"] = percentile(5, 50, 99.9); exit(0); }' | sed -E 's/CPU [0-9]+/CPU N/'
>
>
>               key          p50        p99.9
>                 a            5            5
>     [CPU N]            5            5
