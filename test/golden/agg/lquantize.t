# lquantize(x, base, limit, step): below the base, at or above the limit
$ erltrace -qn 'BEGIN { @ = lquantize(-5, 0, 100, 10); @ = lquantize(0, 0, 100, 10); @ = lquantize(10, 0, 100, 10); @ = lquantize(10, 0, 100, 10); @ = lquantize(19, 0, 100, 10); @ = lquantize(20, 0, 100, 10); @ = lquantize(99, 0, 100, 10); @ = lquantize(100, 0, 100, 10); @ = lquantize(1000, 0, 100, 10); @ = lquantize(1000, 0, 100, 10); exit(0); }'
>
>
>            value  ------------- Distribution ------------- count    
>              < 0 |@@@@                                     1        
>                0 |@@@@                                     1        
>               10 |@@@@@@@@@@@@                             3        
>               20 |@@@@                                     1        
>               30 |                                         0        
>               40 |                                         0        
>               50 |                                         0        
>               60 |                                         0        
>               70 |                                         0        
>               80 |                                         0        
>               90 |@@@@                                     1        
>           >= 100 |@@@@@@@@@@@@                             3        
>
# the step is 1 if it is not given
$ erltrace -qn 'BEGIN { @ = lquantize(3, 0, 10); exit(0); }'
>
>
>            value  ------------- Distribution ------------- count    
>                2 |                                         0        
>                3 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1        
>                4 |                                         0        
>
# only what lies beyond the ends
$ erltrace -qn 'BEGIN { @ = lquantize(-1, 0, 10); exit(0); }'
>
>
>            value  ------------- Distribution ------------- count    
>              < 0 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1        
>                0 |                                         0        
>
$ erltrace -qn 'BEGIN { @ = lquantize(10, 0, 10); exit(0); }'
>
>
>            value  ------------- Distribution ------------- count    
>                9 |                                         0        
>            >= 10 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1        
>
# a base below zero
$ erltrace -qn 'BEGIN { @ = lquantize(-100, -50, 50, 10); @ = lquantize(-50, -50, 50, 10); @ = lquantize(-41, -50, 50, 10); @ = lquantize(0, -50, 50, 10); @ = lquantize(49, -50, 50, 10); exit(0); }'
>
>
>            value  ------------- Distribution ------------- count    
>            < -50 |@@@@@@@@                                 1        
>              -50 |@@@@@@@@@@@@@@@@                         2        
>              -40 |                                         0        
>              -30 |                                         0        
>              -20 |                                         0        
>              -10 |                                         0        
>                0 |@@@@@@@@                                 1        
>               10 |                                         0        
>               20 |                                         0        
>               30 |                                         0        
>               40 |@@@@@@@@                                 1        
>            >= 50 |                                         0        
>
# a range that the step does not divide: the last bucket begins below the limit
$ erltrace -qn 'BEGIN { @ = lquantize(8, 0, 10, 3); @ = lquantize(9, 0, 10, 3); exit(0); }'
>
>
>            value  ------------- Distribution ------------- count    
>                3 |                                         0        
>                6 |@@@@@@@@@@@@@@@@@@@@                     1        
>             >= 9 |@@@@@@@@@@@@@@@@@@@@                     1        
>
# increments
$ erltrace -qn 'BEGIN { @ = lquantize(1, 0, 4, 1, 5); @ = lquantize(2, 0, 4, 1, -5); exit(0); }'
>
>
>            value  ------------- Distribution ------------- count    
>                0                     |                     0        
>                1                     |@@@@@@@@@@           5        
>                2           @@@@@@@@@@|                     -5       
>                3                     |                     0        
>
$ erltrace -qn 'BEGIN { @ = lquantize(1, 0, 4, 1, 5); @ = lquantize(1, 0, 4, 1, -5); exit(0); }'
>
>
>            value  ------------- Distribution ------------- count    
>              < 0 |                                         0        
>                0 |                                         0        
>                1 |                                         0        
>
# the widest of all
$ erltrace -qn 'BEGIN { @ = lquantize(65534, 0, 65535); exit(0); }'
>
>
>            value  ------------- Distribution ------------- count    
>            65533 |                                         0        
>            65534 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1        
>         >= 65535 |                                         0        
>
