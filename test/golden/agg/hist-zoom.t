# aggzoom with agghist: bars are scaled to the largest value, which has 95 % of the bar
$ erltrace -q -xagghist -xaggzoom -n 'BEGIN { @["a"] = sum(50); @["b"] = sum(1000); @["c"] = sum(250); exit(0); }'
>
>
>               key  ------------- Distribution ------------- count    
>                 a |@@                                       50       
>                 c |@@@@@@@@@@                               250      
>                 b |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@   1000     
# the scale is a whole number: of small values the largest is a full bar
$ erltrace -q -xagghist -xaggzoom -n 'BEGIN { @["a"] = count(); @["b"] = count(); @["b"] = count(); @["b"] = count(); @["b"] = count(); exit(0); }'
>
>
>               key  ------------- Distribution ------------- count    
>                 a |@@@@@@@@@@                               1        
>                 b |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 4        
# both signs: each has its half
$ erltrace -q -xagghist -xaggzoom -n 'BEGIN { @["a"] = sum(-500); @["b"] = sum(1000); exit(0); }'
>
>
>               key  ------------- Distribution ------------- count    
>                 a           @@@@@@@@@@|                     -500     
>                 b                     |@@@@@@@@@@@@@@@@@@@  1000     
