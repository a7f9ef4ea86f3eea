# = has a value and groups to the right
$ erltrace -qn 'BEGIN { x = y = 5; printf("%d %d %d\n", x, y, (z = 7) + 1); exit(0); }'
> 5 5 8
>
# every compound assignment
$ erltrace -qn 'BEGIN { x = 10; x += 5; printf("%d ", x); x -= 3; printf("%d ", x); x *= 4; printf("%d ", x); x /= 5; printf("%d ", x); x %= 5; printf("%d\n", x); exit(0); }'
> 15 12 48 9 4
>
$ erltrace -qn 'BEGIN { x = 12; x &= 10; printf("%d ", x); x |= 3; printf("%d ", x); x ^= 1; printf("%d ", x); x <<= 4; printf("%d ", x); x >>= 3; printf("%d\n", x); exit(0); }'
> 8 11 10 160 20
>
# on self->, this-> and associative arrays
$ erltrace -qn 'BEGIN { self->x = 3; self->x *= 7; this->y = 5; this->y -= 8; a["k"] = 2; a["k"] <<= 3; self->b[1] += 4; printf("%d %d %d %d\n", self->x, this->y, a["k"], self->b[1]); exit(0); }'
> 21 -3 16 4
>
# the value is that of the left side, in its type
$ erltrace -qn 'uint8_t b; BEGIN { b = 250; x = (b += 10); printf("%d %d %d\n", b, x, sizeof (b += 1)); exit(0); }'
> 4 4 1
>
# narrow signed ones wrap, wide ones are cut
$ erltrace -qn 'char c; short s; unsigned short us; BEGIN { c = 127; c += 1; s = 100000; us = -1; printf("%d %d %d\n", c, s, us); exit(0); }'
> -128 -31072 65535
>
# division and shift go by the sign of the common type
$ erltrace -qn 'int8_t c; uint32_t u; BEGIN { c = -128; c /= 2; u = 0x80000000; u >>= 4; printf("%d %x\n", c, u); exit(0); }'
> -64 8000000
>
$ erltrace -qn 'int x; BEGIN { x = -10; x /= 3u; printf("%d\n", x); exit(0); }'
> 1431655762
>
# a variable first seen in += begins at 0
$ erltrace -qn 'BEGIN { n += 5; m -= 2; printf("%d %d\n", n, m); exit(0); }'
> 5 -2
>
