# llquantize(x, factor, low, high, steps): linear steps in each power of the factor
$ erltrace -qn 'BEGIN { @ = llquantize(5, 10, 0, 2, 10); @ = llquantize(10, 10, 0, 2, 10); @ = llquantize(15, 10, 0, 2, 10); @ = llquantize(99, 10, 0, 2, 10); @ = llquantize(100, 10, 0, 2, 10); @ = llquantize(950, 10, 0, 2, 10); @ = llquantize(999, 10, 0, 2, 10); exit(0); }'
>
>
>            value  ------------- Distribution ------------- count    
>                4 |                                         0        
>                5 |@@@@@@                                   1        
>                6 |                                         0        
>                7 |                                         0        
>                8 |                                         0        
>                9 |                                         0        
>               10 |@@@@@@@@@@@                              2        
>               20 |                                         0        
>               30 |                                         0        
>               40 |                                         0        
>               50 |                                         0        
>               60 |                                         0        
>               70 |                                         0        
>               80 |                                         0        
>               90 |@@@@@@                                   1        
>              100 |@@@@@@                                   1        
>              200 |                                         0        
>              300 |                                         0        
>              400 |                                         0        
>              500 |                                         0        
>              600 |                                         0        
>              700 |                                         0        
>              800 |                                         0        
>              900 |@@@@@@@@@@@                              2        
>          >= 1000 |                                         0        
>
# negatives mirror; the middle is abs() <; beyond the ends <= and >=
$ erltrace -qn 'BEGIN { @ = llquantize(-5000, 10, 1, 2, 10); @ = llquantize(-1000, 10, 1, 2, 10); @ = llquantize(-20, 10, 1, 2, 10); @ = llquantize(-9, 10, 1, 2, 10); @ = llquantize(0, 10, 1, 2, 10); @ = llquantize(9, 10, 1, 2, 10); @ = llquantize(10, 10, 1, 2, 10); @ = llquantize(1000, 10, 1, 2, 10); exit(0); }'
>
>
>            value  ------------- Distribution ------------- count    
>         <= -1000 |@@@@@@@@@@                               2        
>             -900 |                                         0        
>             -800 |                                         0        
>             -700 |                                         0        
>             -600 |                                         0        
>             -500 |                                         0        
>             -400 |                                         0        
>             -300 |                                         0        
>             -200 |                                         0        
>             -100 |                                         0        
>              -90 |                                         0        
>              -80 |                                         0        
>              -70 |                                         0        
>              -60 |                                         0        
>              -50 |                                         0        
>              -40 |                                         0        
>              -30 |                                         0        
>              -20 |@@@@@                                    1        
>              -10 |                                         0        
>       abs() < 10 |@@@@@@@@@@@@@@@                          3        
>               10 |@@@@@                                    1        
>               20 |                                         0        
>               30 |                                         0        
>               40 |                                         0        
>               50 |                                         0        
>               60 |                                         0        
>               70 |                                         0        
>               80 |                                         0        
>               90 |                                         0        
>              100 |                                         0        
>              200 |                                         0        
>              300 |                                         0        
>              400 |                                         0        
>              500 |                                         0        
>              600 |                                         0        
>              700 |                                         0        
>              800 |                                         0        
>              900 |                                         0        
>          >= 1000 |@@@@@                                    1        
>
# more steps than the factor
$ erltrace -qn 'BEGIN { @ = llquantize(10, 10, 1, 2, 20); @ = llquantize(14, 10, 1, 2, 20); @ = llquantize(15, 10, 1, 2, 20); @ = llquantize(19, 10, 1, 2, 20); @ = llquantize(19, 10, 1, 2, 20); @ = llquantize(3, 10, 1, 2, 20); exit(0); }'
>
>
>            value  ------------- Distribution ------------- count    
>              -10 |                                         0        
>       abs() < 10 |@@@@@@@                                  1        
>               10 |@@@@@@@@@@@@@                            2        
>               15 |@@@@@@@@@@@@@@@@@@@@                     3        
>               20 |                                         0        
>
# powers of two in two steps are powers of two
$ erltrace -qn 'BEGIN { @ = llquantize(-1, 2, 0, 3, 2); @ = llquantize(1, 2, 0, 3, 2); @ = llquantize(2, 2, 0, 3, 2); @ = llquantize(3, 2, 0, 3, 2); @ = llquantize(4, 2, 0, 3, 2); @ = llquantize(7, 2, 0, 3, 2); @ = llquantize(8, 2, 0, 3, 2); @ = llquantize(16, 2, 0, 3, 2); exit(0); }'
>
>
>            value  ------------- Distribution ------------- count    
>               -2 |                                         0        
>               -1 |@@@@@                                    1        
>                0 |                                         0        
>                1 |@@@@@                                    1        
>                2 |@@@@@@@@@@                               2        
>                4 |@@@@@@@@@@                               2        
>                8 |@@@@@                                    1        
>            >= 16 |@@@@@                                    1        
>
# increments
$ erltrace -qn 'BEGIN { @ = llquantize(5, 10, 1, 2, 10, 10); @ = llquantize(50, 10, 1, 2, 10, -10); exit(0); }'
>
>
>            value  ------------- Distribution ------------- count    
>              -10                     |                     0        
>       abs() < 10                     |@@@@@@@@@@           10       
>               10                     |                     0        
>               20                     |                     0        
>               30                     |                     0        
>               40                     |                     0        
>               50           @@@@@@@@@@|                     -10      
>               60                     |                     0        
>
# fewer steps than the factor: the first of each power begins at the power itself
$ erltrace -qn 'BEGIN { @ = llquantize(1, 10, 0, 1, 5); @ = llquantize(3, 10, 0, 1, 5); @ = llquantize(9, 10, 0, 1, 5); @ = llquantize(10, 10, 0, 1, 5); @ = llquantize(99, 10, 0, 1, 5); @ = llquantize(-15, 10, 0, 1, 5); exit(0); }'
>
>
>            value  ------------- Distribution ------------- count    
>              -20 |                                         0        
>              -10 |@@@@@@@                                  1        
>               -8 |                                         0        
>               -6 |                                         0        
>               -4 |                                         0        
>               -2 |                                         0        
>               -1 |                                         0        
>                0 |                                         0        
>                1 |@@@@@@@                                  1        
>                2 |@@@@@@@                                  1        
>                4 |                                         0        
>                6 |                                         0        
>                8 |@@@@@@@                                  1        
>               10 |@@@@@@@                                  1        
>               20 |                                         0        
>               40 |                                         0        
>               60 |                                         0        
>               80 |@@@@@@@                                  1        
>           >= 100 |                                         0        
>
# one power, and one step in it
$ erltrace -qn 'BEGIN { @ = llquantize(5, 10, 1, 1, 1); @ = llquantize(10, 10, 1, 1, 1); @ = llquantize(99, 10, 1, 1, 1); @ = llquantize(100, 10, 1, 1, 1); exit(0); }'
>
>
>            value  ------------- Distribution ------------- count    
>              -10 |                                         0        
>       abs() < 10 |@@@@@@@@@@                               1        
>               10 |@@@@@@@@@@@@@@@@@@@@                     2        
>           >= 100 |@@@@@@@@@@                               1        
>
