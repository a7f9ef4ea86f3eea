# percentile(x, percentages): a column for each, by nearest rank; without percentages four that are usual
< values.sh
| # values.sh FROM TO KEY FUNCTION: that many statements
| for ((i = $1; i <= $2; i++)); do echo "$3 = ${4//x/$i};"; done
$ { echo 'BEGIN {'; bash values.sh 1 60 '@' 'percentile(x)'; echo 'exit(0); }'; } >a.d; erltrace -qs a.d
>
>
>           p50          p90          p99        p99.9
>            30           54           60           60
# magnitudes below 64 are exact; above, the middle of a bucket, at most 1/64 from the value: 80 and 99 of 1 to 100
$ { echo 'BEGIN {'; bash values.sh 1 100 '@' 'percentile(x, 0.000001, 1, 50, 80, 99, 99.5, 100)'; echo 'exit(0); }'; } >a.d; erltrace -qs a.d
>
>
>     p0.000001           p1          p50          p80          p99        p99.5         p100
>             1            1           50           80           98          100          100
# interpreted
$ erltrace -q -xjit=off -s a.d
>
>
>     p0.000001           p1          p50          p80          p99        p99.5         p100
>             1            1           50           80           98          100          100
# the smallest and the largest value are exact, so one value is, and two are
$ erltrace -qn 'BEGIN { @["one"] = percentile(123456789, 50, 99.9); @["two"] = percentile(1000001, 50, 99.9); @["two"] = percentile(1000000000001, 50, 99.9); exit(0); }'
>
>
>               key           p50         p99.9
>               two       1000001 1000000000001
>               one     123456789     123456789
# negative values, 0, and the ends of 64 bits
$ erltrace -qn 'BEGIN { @ = percentile(-5, 20, 40, 60, 80, 100); @ = percentile(0, 20, 40, 60, 80, 100); @ = percentile(-1000, 20, 40, 60, 80, 100); @ = percentile(7, 20, 40, 60, 80, 100); @ = percentile(-2, 20, 40, 60, 80, 100); exit(0); }'
>
>
>           p20          p40          p60          p80         p100
>         -1000           -5           -2            0            7
$ erltrace -qn 'BEGIN { @[1] = percentile(0x7fffffffffffffff, 25, 50, 75); @[1] = percentile(0x7fffffffffffffff - 1, 25, 50, 75); @[1] = percentile(0x8000000000000000, 25, 50, 75); @[1] = percentile(0x8000000000000001, 25, 50, 75); exit(0); }'
>
>
>       key                  p25                  p50                  p75
>         1 -9223372036854775808 -9151314442816847871  9151314442816847871
# each key has a line; they sort by the first percentage, then by the last, then by key
$ erltrace -qn 'BEGIN { @["b"] = percentile(5, 50, 100); @["c"] = percentile(5, 50, 100); @["c"] = percentile(9, 50, 100); @["a"] = percentile(5, 50, 100); @["a key that is long"] = percentile(1, 50, 100); exit(0); }'
>
>
>                 key          p50         p100
>  a key that is long            1            1
>                   a            5            5
>                   b            5            5
>                   c            5            9
$ erltrace -q -xaggsortrev -n 'BEGIN { @["b", 1] = percentile(5, 50, 100); @["c", 2] = percentile(7, 50, 100); exit(0); }'
>
>
>                        key          p50         p100
>                 c        2            7            7
>                 b        1            5            5
$ erltrace -q -xaggsortkey -n 'BEGIN { @["b"] = percentile(5); @["a"] = percentile(7); exit(0); }'
>
>
>               key          p50          p90          p99        p99.9
>                 a            7            7            7            7
>                 b            5            5            5            5
# below frames of a stack the columns begin at the left
$ erltrace -qn 'BEGIN { @[7, stack(), "k"] = percentile(5, 50, 100); exit(0); }' | sed -E 's/^ +[^ ]+`.*/FRAME/' | uniq
>
>               key          p50         p100
>         7
>                 k            5            5
# trunc() keeps the largest, clear() the keys, normalize() divides
$ erltrace -qn 'BEGIN { @["a"] = percentile(10, 50, 99); @["b"] = percentile(30, 50, 99); @["c"] = percentile(20, 50, 99); trunc(@, 2); exit(0); }'
>
>
>               key          p50          p99
>                 c           20           20
>                 b           30           30
$ erltrace -qn 'BEGIN { @["a"] = percentile(10, 50, 99); @["b"] = percentile(30, 50, 99); clear(@); exit(0); }'
>
>
>               key          p50          p99
>                 a            0            0
>                 b            0            0
$ erltrace -qn 'BEGIN { @["a"] = percentile(10, 50, 99); clear(@); } tick-1s { @["a"] = percentile(4, 50, 99); exit(0); }'
>
>
>               key          p50          p99
>                 a            4            4
$ erltrace -qn 'BEGIN { @["a"] = percentile(1500, 50, 99); @["a"] = percentile(2500, 50, 99); @["a"] = percentile(-999, 50, 99); normalize(@, 1000); printa(@); denormalize(@); exit(0); }'
>
>
>               key          p50          p99
>                 a            1            2
>
# percentages may be macro arguments, decimals too, and constants of other kinds
$ erltrace -qn 'inline int half = 50; BEGIN { @ = percentile(7, half, $1, $2, 0x5a); exit(0); }' 99 99.99
>
>
>           p50          p99       p99.99          p90
>             7            7            7            7
# ten of them, and two names with percentages of their own
$ erltrace -qn 'BEGIN { @a = percentile(1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100); @b = percentile(1, 3); exit(0); }'
>
>
>           p10          p20          p30          p40          p50          p60          p70          p80          p90         p100
>             1            1            1            1            1            1            1            1            1            1
>
>            p3
>             1
# as wide as the longest number
$ erltrace -qn 'BEGIN { @["a"] = percentile(1234567890123, 50, 99.9); @["b"] = percentile(-7, 50, 99.9); exit(0); }'
>
>
>               key           p50         p99.9
>                 b            -7            -7
>                 a 1234567890123 1234567890123
# what comes later is merged with what came before
$ erltrace -qn 'BEGIN { @["a"] = percentile(1, 50, 100); } tick-10ms { @["a"] = percentile(3, 50, 100); @["a"] = percentile(2, 50, 100); exit(0); } END { printa(@); }'
>
>
>               key          p50         p100
>                 a            2            3
>
