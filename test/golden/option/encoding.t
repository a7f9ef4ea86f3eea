# encoding=utf8: bars of blocks, down to an eighth of a column
$ erltrace -q -xencoding=utf8 -n 'BEGIN { @ = quantize(1); @ = quantize(4, 20); @ = quantize(8, 3); exit(0); }'
>
>
>            value  ------------- Distribution ------------- count    
>                0 |                                         0        
>                1 |█▋                                       1        
>                2 |                                         0        
>                4 |█████████████████████████████████▎       20       
>                8 |█████                                    3        
>               16 |                                         0        
>
$ erltrace -q -xencoding=utf8 -xagghist -n 'BEGIN { @["a"] = sum(1); @["b"] = sum(15); exit(0); }'
>
>
>               key  ------------- Distribution ------------- count    
>                 a |██▌                                      1        
>                 b |█████████████████████████████████████▌   15       
$ LC_ALL=C TERM=dumb erltrace -q -xencoding=utf8 -xaggpack -n 'BEGIN { @["k"] = quantize(1); @["k"] = quantize(4, 3); exit(0); }'
>
>
>               key min .-----. max | count
>                 k   0 : ▃ ▆ : 8   | 4
# where a bar is left of the line it stays as it is
$ erltrace -q -xencoding=utf8 -n 'BEGIN { @ = quantize(1, -1); @ = quantize(2, 3); exit(0); }'
>
>
>            value  ------------- Distribution ------------- count    
>                0                     |                     0        
>                1                @@@@@|                     -1       
>                2                     |@@@@@@@@@@@@@@@      3        
>                4                     |                     0        
>

# encoding=ascii: none, whatever the environment says
$ LC_ALL=C.UTF-8 TERM=xterm erltrace -q -xencoding=ascii -xaggpack -n 'BEGIN { @["k"] = quantize(1); @["k"] = quantize(4, 3); exit(0); }'
>
>
>               key min .-----. max | count
>                 k   0 : x x : 8   | 4
$ LC_ALL=C.UTF-8 TERM=xterm erltrace -q -xencoding=ascii -n 'BEGIN { @ = quantize(1); exit(0); }'
>
>
>            value  ------------- Distribution ------------- count    
>                0 |                                         0        
>                1 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1        
>                2 |                                         0        
>

# it may change while the script runs; the last one counts
$ LC_ALL=C.UTF-8 TERM=xterm erltrace -q -xaggpack -xencoding=utf8 -n 'BEGIN { @["k"] = quantize(1); setopt("encoding", "ascii"); printa(@); exit(0); }'
>
>
>               key min .---. max | count
>                 k   0 : X : 2   | 1
>

# nothing else
$ erltrace -xencoding=latin1 -n 'BEGIN { exit(0); }'
!~ option encoding: 'latin1' is not one of: ascii utf8
? 1
