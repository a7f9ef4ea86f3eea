# aggzoom: the largest has 95 % of the bar
$ erltrace -q -xaggzoom -n 'BEGIN { @ = quantize(1, 10); @ = quantize(2, 20); @ = quantize(4, 5); exit(0); }'
>
>
>            value  ------------- Distribution ------------- count    
>                0 |                                         0        
>                1 |@@@@@@@@@@@@@@@@@@@                      10       
>                2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@   20       
>                4 |@@@@@@@@@@                               5        
>                8 |                                         0        
>
# agghist: count() and sum() as bars, a key a line
$ erltrace -q -xagghist -n 'BEGIN { @["one"] = sum(1); @["three"] = sum(3); exit(0); }'
>
>
>               key  ------------- Distribution ------------- count    
>               one |@@@@@@@@@@                               1        
>             three |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@           3        
$ erltrace -q -xagghist -n 'BEGIN { @[1] = count(); @[2] = count(); @[2] = count(); @[2] = count(); exit(0); }'
>
>
>       key  ------------- Distribution ------------- count    
>         1 |@@@@@@@@@@                               1        
>         2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@           3        
# below zero to the left
$ erltrace -q -xagghist -n 'BEGIN { @["up"] = sum(30); @["down"] = sum(-10); exit(0); }'
>
>
>               key  ------------- Distribution ------------- count    
>              down                @@@@@|                     -10      
>                up                     |@@@@@@@@@@@@@@@      30       
# others stay as they are
$ erltrace -q -xagghist -n 'BEGIN { @["x"] = max(3); exit(0); }'
>
>   x                                                                 3
