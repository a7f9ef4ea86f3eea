# powers of two: from a label up to the next; one empty row on each side
$ erltrace -qn 'BEGIN { @ = quantize(1); @ = quantize(2); @ = quantize(3); @ = quantize(4); exit(0); }'
>
>
>            value  ------------- Distribution ------------- count    
>                0 |                                         0        
>                1 |@@@@@@@@@@                               1        
>                2 |@@@@@@@@@@@@@@@@@@@@                     2        
>                4 |@@@@@@@@@@                               1        
>                8 |                                         0        
>
$ erltrace -qn 'BEGIN { @ = quantize(0); exit(0); }'
>
>
>            value  ------------- Distribution ------------- count    
>               -1 |                                         0        
>                0 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1        
>                1 |                                         0        
>
# negatives mirror
$ erltrace -qn 'BEGIN { @ = quantize(-100); @ = quantize(-1); @ = quantize(-1); @ = quantize(0); @ = quantize(1); @ = quantize(1); @ = quantize(1); @ = quantize(70); exit(0); }'
>
>
>            value  ------------- Distribution ------------- count    
>             -128 |                                         0        
>              -64 |@@@@@                                    1        
>              -32 |                                         0        
>              -16 |                                         0        
>               -8 |                                         0        
>               -4 |                                         0        
>               -2 |                                         0        
>               -1 |@@@@@@@@@@                               2        
>                0 |@@@@@                                    1        
>                1 |@@@@@@@@@@@@@@@                          3        
>                2 |                                         0        
>                4 |                                         0        
>                8 |                                         0        
>               16 |                                         0        
>               32 |                                         0        
>               64 |@@@@@                                    1        
>              128 |                                         0        
>
# the edges of 64 bits have no row beyond them
$ erltrace -qn 'BEGIN { @ = quantize(9223372036854775807); exit(0); }'
>
>
>            value  ------------- Distribution ------------- count    
> 2305843009213693952 |                                         0        
> 4611686018427387904 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1        
>
$ erltrace -qn 'BEGIN { @ = quantize(-9223372036854775807 - 1); exit(0); }'
>
>
>            value  ------------- Distribution ------------- count    
> -4611686018427387904 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1        
> -2305843009213693952 |                                         0        
>
# an increment weighs
$ erltrace -qn 'BEGIN { @ = quantize(1, 10); @ = quantize(4, 30); exit(0); }'
>
>
>            value  ------------- Distribution ------------- count    
>                0 |                                         0        
>                1 |@@@@@@@@@@                               10       
>                2 |                                         0        
>                4 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@           30       
>                8 |                                         0        
>
# below zero the bar grows to the left
$ erltrace -qn 'BEGIN { @ = quantize(1, -10); @ = quantize(4, -30); exit(0); }'
>
>
>            value  ------------- Distribution ------------- count    
>                0                                         | 0        
>                1                               @@@@@@@@@@| -10      
>                2                                         | 0        
>                4           @@@@@@@@@@@@@@@@@@@@@@@@@@@@@@| -30      
>                8                                         | 0        
>
# both signs: two halves of 20
$ erltrace -qn 'BEGIN { @ = quantize(1, -10); @ = quantize(4, 30); exit(0); }'
>
>
>            value  ------------- Distribution ------------- count    
>                0                     |                     0        
>                1                @@@@@|                     -10      
>                2                     |                     0        
>                4                     |@@@@@@@@@@@@@@@      30       
>                8                     |                     0        
>
# increments that add up to nothing: the rows around zero
$ erltrace -qn 'BEGIN { @ = quantize(5, 3); @ = quantize(5, -3); exit(0); }'
>
>
>            value  ------------- Distribution ------------- count    
>               -1 |                                         0        
>                0 |                                         0        
>                1 |                                         0        
>
# shares are rounded: 1 of 3 is 13 of 40 columns, 1 of 100 none
$ erltrace -qn 'BEGIN { @ = quantize(1); @ = quantize(2); @ = quantize(4); exit(0); }'
>
>
>            value  ------------- Distribution ------------- count    
>                0 |                                         0        
>                1 |@@@@@@@@@@@@@                            1        
>                2 |@@@@@@@@@@@@@                            1        
>                4 |@@@@@@@@@@@@@                            1        
>                8 |                                         0        
>
$ erltrace -qn 'BEGIN { @ = quantize(1, 99); @ = quantize(4, 1); exit(0); }'
>
>
>            value  ------------- Distribution ------------- count    
>                0 |                                         0        
>                1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 99       
>                2 |                                         0        
>                4 |                                         1        
>                8 |                                         0        
>
# a count wider than its column is not cut
$ erltrace -qn 'BEGIN { @ = quantize(1, 12345678901); exit(0); }'
>
>
>            value  ------------- Distribution ------------- count    
>                0 |                                         0        
>                1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 12345678901
>                2 |                                         0        
>
# keys: the key on its line, the picture below, a blank line
$ erltrace -qn 'BEGIN { @["a"] = quantize(1); @["b"] = quantize(2); exit(0); }'
>
>   a                                                 
>            value  ------------- Distribution ------------- count    
>                0 |                                         0        
>                1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1        
>                2 |                                         0        
>
>   b                                                 
>            value  ------------- Distribution ------------- count    
>                1 |                                         0        
>                2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1        
>                4 |                                         0        
>
