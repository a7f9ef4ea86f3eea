# by value, upwards; then by key
$ erltrace -qn 'BEGIN { @["c"] = sum(1); @["a"] = sum(2); @["b"] = sum(1); @["d"] = sum(-4); exit(0); }'
>
>   d                                                                -4
>   b                                                                 1
>   c                                                                 1
>   a                                                                 2
# aggsortrev: downwards
$ erltrace -q -xaggsortrev -n 'BEGIN { @["c"] = sum(1); @["a"] = sum(2); @["b"] = sum(1); @["d"] = sum(-4); exit(0); }'
>
>   a                                                                 2
>   c                                                                 1
>   b                                                                 1
>   d                                                                -4
# aggsortkey: by key
$ erltrace -q -xaggsortkey -n 'BEGIN { @["c"] = sum(1); @["a"] = sum(2); @["b"] = sum(1); @["d"] = sum(-4); exit(0); }'
>
>   a                                                                 2
>   b                                                                 1
>   c                                                                 1
>   d                                                                -4
$ erltrace -q -xaggsortkey -xaggsortrev -n 'BEGIN { @["c"] = sum(1); @["a"] = sum(2); @["b"] = sum(1); @["d"] = sum(-4); exit(0); }'
>
>   d                                                                -4
>   c                                                                 1
>   b                                                                 1
>   a                                                                 2
# integer keys sort as numbers by their sign
$ erltrace -q -xaggsortkey -n 'BEGIN { @[10] = count(); @[-2] = count(); @[9] = count(); exit(0); }'
>
>        -2                1
>         9                1
>        10                1
$ erltrace -q -xaggsortkey -n 'BEGIN { @[(uint64_t)-1] = count(); @[(uint64_t)1] = count(); exit(0); }'
>
>                 1                1
>  18446744073709551615                1
# aggsortkeypos: which part of the key counts first
$ erltrace -q -xaggsortkey -xaggsortkeypos=1 -n 'BEGIN { @["a", 3] = sum(1); @["b", 1] = sum(2); @["c", 2] = sum(3); exit(0); }'
>
>   b                                                         1                2
>   c                                                         2                3
>   a                                                         3                1
# several in one printa: by the first, or by aggsortpos
$ erltrace -qn 'BEGIN { @a["x"] = sum(1); @b["x"] = sum(9); @a["y"] = sum(2); @b["y"] = sum(8); printa(@a, @b); exit(0); }'
>
>   x                                                                 1                9
>   y                                                                 2                8
>
$ erltrace -q -xaggsortpos=1 -n 'BEGIN { @a["x"] = sum(1); @b["x"] = sum(9); @a["y"] = sum(2); @b["y"] = sum(8); printa(@a, @b); exit(0); }'
>
>   y                                                                 2                8
>   x                                                                 1                9
>
# options of sorting can be set while running
$ erltrace -qn 'BEGIN { @["a"] = sum(1); @["b"] = sum(2); printa(@); setopt("aggsortrev"); printa(@); setopt("aggsortrev", "0"); setopt("aggsortkey"); printa(@); exit(0); }'
>
>   a                                                                 1
>   b                                                                 2
>
>   b                                                                 2
>   a                                                                 1
>
>   a                                                                 1
>   b                                                                 2
>
# distributions by the weighted sum, ties by the zeros
$ erltrace -qn 'BEGIN { @["big"] = quantize(1024); @["many"] = quantize(1, 5); @["neg"] = quantize(-8); @["zero"] = quantize(0); @["zeros"] = quantize(0, 2); exit(0); }' | grep -E '^  [a-z]' | tr -d ' '
> neg
> zero
> zeros
> many
> big
$ erltrace -qn 'BEGIN { @["x"] = lquantize(9, 0, 10); @["y"] = lquantize(2, 0, 10); @["z"] = lquantize(1, 0, 10); exit(0); }' | grep -E '^  [a-z]' | tr -d ' '
> z
> y
> x
# averages by their exact value, not by what is shown
$ erltrace -qn 'BEGIN { @["b"] = avg(1); @["b"] = avg(2); @["a"] = avg(1); @["a"] = avg(2); @["a"] = avg(2); exit(0); }'
>
>   b                                                                 1
>   a                                                                 1
# strings by bytes
$ erltrace -q -xaggsortkey -n 'BEGIN { @["B"] = count(); @["a"] = count(); @["\303\244"] = count(); @["aa"] = count(); @[""] = count(); exit(0); }'
>
>                                                                     1
>   B                                                                 1
>   a                                                                 1
>   aa                                                                1
>   ä                                                                 1
