# normalize() divides what is printed, not what is kept
$ erltrace -qn 'BEGIN { @["a"] = sum(1000); @["b"] = sum(-7); normalize(@, 2); printa(@); denormalize(@); printa(@); exit(0); }'
>
>   b                                                                -3
>   a                                                               500
>
>   b                                                                -7
>   a                                                              1000
>
# the divisor may be computed; the last one counts
$ erltrace -qn 'BEGIN { n = 10; @ = sum(100); normalize(@, n); normalize(@, n / 2); exit(0); }'
>
>                20
# it goes on for what comes later
$ erltrace -qn 'BEGIN { @ = sum(10); normalize(@, 10); exit(0); } END { @ = sum(30); }'
>
>                 4
# averages, deviations, distributions
$ erltrace -qn 'BEGIN { @a = avg(100); @a = avg(300); normalize(@a, 100); @s = stddev(-50); @s = stddev(50); normalize(@s, 10); exit(0); }'
>
>                 2
>                 5
$ erltrace -qn 'BEGIN { @ = quantize(1, 100); @ = quantize(4, 300); normalize(@, 100); exit(0); }'
>
>
>            value  ------------- Distribution ------------- count    
>                0 |                                         0        
>                1 |@@@@@@@@@@                               1        
>                2 |                                         0        
>                4 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@           3        
>                8 |                                         0        
>
# by nothing
$ erltrace -e -xerrtags -n 'BEGIN { @ = count(); normalize(@, 0); }'
!~ \[D_DIV_ZERO\]
? 1
$ erltrace -qn 'BEGIN { @ = sum(8); n = 0; normalize(@, n); exit(0); }'
>
>                 8
