# aggpack: a distribution on one line, from its least to its greatest bucket
$ LC_ALL=C.UTF-8 TERM=xterm erltrace -q -xaggpack -n 'BEGIN { @["k"] = quantize(1); @["k"] = quantize(4, 3); exit(0); }'
>
>
>               key min .-----. max | count
>                 k   0 : ▃ ▆ : 8   | 4
# all keys over the same buckets
$ LC_ALL=C.UTF-8 TERM=xterm erltrace -q -xaggpack -n 'BEGIN { @["a"] = quantize(1); @["b"] = quantize(2); exit(0); }'
>
>
>               key min .----. max | count
>                 a   0 : █  : 4   | 1
>                 b   0 :  █ : 4   | 1
# where characters are not UTF-8
$ LC_ALL=C erltrace -q -xaggpack -n 'BEGIN { @["k"] = quantize(1); @["k"] = quantize(4, 3); exit(0); }'
>
>
>               key min .-----. max | count
>                 k   0 : x x : 8   | 4
# lquantize: all of its buckets
$ LC_ALL=C.UTF-8 TERM=xterm erltrace -q -xaggpack -n 'BEGIN { @["k"] = lquantize(1, 0, 4); exit(0); }'
>
>
>               key     min .------. max      | count
>                 k     < 0 :  █   : >= 4     | 1
# numbers stay as they are
$ erltrace -q -xaggpack -n 'BEGIN { @["k"] = count(); exit(0); }'
>
>   k                                                                 1
# texts as wide as the longest, so that rows stand under each other
$ LC_ALL=C.UTF-8 TERM=xterm erltrace -q -xaggpack -n 'BEGIN { @["a"] = quantize(1); @["a_longer_name:than/16"] = quantize(1, 2); exit(0); }'
>
>
>                    key min .---. max | count
>                      a   0 : █ : 2   | 1
>  a_longer_name:than/16   0 : █ : 2   | 2
