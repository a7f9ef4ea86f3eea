# what dtrace prints, to the column
$ erltrace -n 'BEGIN { @["a", 1] = quantize(10); @["a", 1] = quantize(100); printf("%s %d\n", "x", 1 + 2); exit(0); }'
! erltrace: description 'BEGIN ' matched 1 probe
> CPU     ID                    FUNCTION:NAME
~ ^[ 0-9]{3}      1                           :BEGIN x 3$
>
>
>   a                                                         1
>            value  ------------- Distribution ------------- count    
>                4 |                                         0        
>                8 |@@@@@@@@@@@@@@@@@@@@                     1        
>               16 |                                         0        
>               32 |                                         0        
>               64 |@@@@@@@@@@@@@@@@@@@@                     1        
>              128 |                                         0        
>
