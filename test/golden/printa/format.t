# printa() without format: a blank line, then keys and value a line
$ erltrace -qn 'BEGIN { @["a"] = count(); @["b"] = count(); printa(@); exit(0); }'
>
>   a                                                                 1
>   b                                                                 1
>
# in the default output the row goes first, its newline last
$ erltrace -n 'BEGIN { @["a"] = count(); printa(@); exit(0); }' 2>/dev/null | cut -c5- | sed 's/$/|/'
>     ID                    FUNCTION:NAME|
>      1                           :BEGIN |
>                                                                 1|
> |
> |
# with a format: keys by the conversions, %@ the value, a row a key
$ erltrace -qn 'BEGIN { @["a"] = sum(1); @["b"] = sum(255); printa("%s %@d\n", @); exit(0); }'
> a 1
> b 255
>
# @ may stand on either side of the width
$ erltrace -qn 'BEGIN { @["a"] = sum(1); @["b"] = sum(255); printa("%@5d|%-5@d|%5@d|%@-5d|%05@d|%s\n", @); exit(0); }'
>     1|1    |    1|1    |00001|a
>   255|255  |  255|255  |00255|b
>
$ erltrace -qn 'BEGIN { @["a"] = sum(1); @["b"] = sum(255); printa("%@u %@x %@X %@o %#@x %@i\n", @); exit(0); }'
> 1 1 1 1 0x1 1
> 255 ff FF 377 0xff 255
>
# keys may be left out; text alone prints for each key
$ erltrace -qn 'BEGIN { @["a"] = sum(1); @["b"] = sum(255); printa("%@d\n", @); exit(0); }'
> 1
> 255
>
$ erltrace -qn 'BEGIN { @["a"] = sum(1); @["b"] = sum(255); printa("row\n", @); exit(0); }'
> row
> row
>
$ erltrace -qn 'BEGIN { @["a"] = sum(1); @["b"] = sum(255); printa("%s\n", @); exit(0); }'
> a
> b
>
# several keys, of every conversion
$ erltrace -qn 'BEGIN { @["ab", 7, 16, 65] = count(); printa("%-4s|%3d|%#x|%c|%@d\n", @); exit(0); }'
> ab  |  7|0x10|A|1
>
$ erltrace -qn 'BEGIN { @["x", "yy", "z\n"] = count(); printa("%5s|%.1s|%S|%@d\n", @); exit(0); }'
>     x|y|z\n|1
>
$ TZ=UTC erltrace -qn 'BEGIN { @[0ll] = count(); printa("%Y %@d\n", @); exit(0); }'
> 1970 Jan  1 00:00:00 1
>
# a * takes the key before it
$ erltrace -qn 'BEGIN { @[4, 5] = count(); printa("[%*d] %@d\n", @); exit(0); }'
> [   5] 1
>
# the value by its function
$ erltrace -qn 'BEGIN { @a = avg(1); @a = avg(4); @s = stddev(-3); @s = stddev(3); @m = min(-9); printa("%@d ", @a); printa("%@d ", @s); printa("%@d\n", @m); exit(0); }'
> 2 3 -9
>
# distributions where %@d stands
$ erltrace -qn 'BEGIN { @["k"] = quantize(2); printa("<%s>%@d</>\n", @); exit(0); }'
> <k>
>            value  ------------- Distribution ------------- count    
>                1 |                                         0        
>                2 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1        
>                4 |                                         0        
> </>
>
