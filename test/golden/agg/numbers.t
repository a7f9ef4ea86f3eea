# count(): how often; keyless in 16 columns
$ erltrace -qn 'BEGIN { @ = count(); @ = count(); @ = count(); exit(0); }'
>
>                 3
# the same as @_
$ erltrace -qn 'BEGIN { @ = count(); @_ = count(); exit(0); }'
>
>                 2
# each key its own
$ erltrace -qn 'BEGIN { @["a"] = count(); @["b"] = count(); @["b"] = count(); exit(0); }'
>
>   a                                                                 1
>   b                                                                 2
# sum(): negatives, and the edges of 64 bits
$ erltrace -qn 'BEGIN { @["up"] = sum(5); @["up"] = sum(7); @["down"] = sum(-5); @["down"] = sum(3); exit(0); }'
>
>   down                                                             -2
>   up                                                               12
$ erltrace -qn 'BEGIN { @ = sum(9223372036854775807); @ = sum(-1); exit(0); }'
>
>  9223372036854775806
$ erltrace -qn 'BEGIN { @ = sum(-9223372036854775807 - 1); exit(0); }'
>
>  -9223372036854775808
# min() and max(): signed
$ erltrace -qn 'BEGIN { @a = min(3); @a = min(-7); @a = min(5); @b = max(-3); @b = max(-7); @b = max(-5); exit(0); }'
>
>                -7
>                -3
$ erltrace -qn 'BEGIN { @a = min(-9223372036854775807 - 1); @a = min(0); @b = max(9223372036854775807); @b = max(0); @c = min(9223372036854775807); @d = max(-9223372036854775807 - 1); exit(0); }'
>
>  -9223372036854775808
>  9223372036854775807
>  9223372036854775807
>  -9223372036854775808
# avg(): whole numbers, towards zero
$ erltrace -qn 'BEGIN { @["a"] = avg(1); @["a"] = avg(2); @["b"] = avg(-1); @["b"] = avg(-2); @["c"] = avg(10); @["c"] = avg(20); @["c"] = avg(30); exit(0); }'
>
>   b                                                                -1
>   a                                                                 1
>   c                                                                20
# stddev()
$ erltrace -qn 'BEGIN { @ = stddev(2); @ = stddev(4); @ = stddev(4); @ = stddev(4); @ = stddev(5); @ = stddev(5); @ = stddev(7); @ = stddev(9); exit(0); }'
>
>                 2
$ erltrace -qn 'BEGIN { @["one"] = stddev(5); @["sym"] = stddev(-50); @["sym"] = stddev(50); exit(0); }'
>
>   one                                                               0
>   sym                                                              50
# squares beyond 64 bits
$ erltrace -qn 'BEGIN { @ = stddev(1099511627776); @ = stddev(-1099511627776); exit(0); }'
>
>     1099511627776
$ erltrace -qn 'BEGIN { @ = stddev(9223372036854775807); @ = stddev(-9223372036854775807); exit(0); }'
>
>  9223372036854775807
# pointers and small types count by their value
$ erltrace -qn 'BEGIN { @a = sum((char)-1); @b = sum((uint8_t)255); @c = max((void *)16); exit(0); }'
>
>                -1
>               255
>                16
