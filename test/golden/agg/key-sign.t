# a key has the type and the sign of its first use; later values are converted to it, and keys sort
# by their sign
$ erltrace -qxaggsortkey -n 'BEGIN { @a[-1] = count(); @a[1] = count(); @a[0xffffffffu] = count(); @a[0] = count(); exit(0); }'
>
>        -1                2
>         0                1
>         1                1
$ erltrace -qxaggsortkey -n 'BEGIN { @b[1u] = count(); @b[-1] = count(); @b[2] = count(); exit(0); }'
>
>         1                1
>         2                1
>  4294967295                1
# of every width, as one of several keys, printed by a format as well; a signed char or short and an unsigned
# one are different keys, unless they have the same value
$ erltrace -qxaggsortkey -n 'BEGIN { @c[(char)-5, "x"] = count(); @c[(char)5, "y"] = count(); @c[(unsigned char)251, "x"] = count(); printa("%d %s %@d\n", @c); @d[(short)-5] = count(); @d[(unsigned short)65530] = count(); @d[(char)7] = count(); printa("%d %@d\n", @d); exit(0); }'
> -5 x 1
> 5 y 1
> 251 x 1
> -5 1
> 7 1
> 65530 1
>
$ erltrace -qxaggsortkey -n 'BEGIN { @d[1UL] = count(); @d[-1] = count(); printa("%d %@d\n", @d); @e[-1L] = count(); @e[1UL] = count(); @e[18446744073709551615u] = count(); printa("%d %@d\n", @e); exit(0); }'
> 1 1
> 18446744073709551615 1
> -1 2
> 1 1
>
# in whatever order they come, and with a wider unsigned type
$ erltrace -qxaggsortkey -n 'BEGIN { @a[(unsigned char)254] = count(); @a[(char)-2] = count(); @a[(char)1] = count(); @a[(unsigned char)1] = count(); @b[(char)-3] = count(); @b[(unsigned short)65533] = count(); @b[(short)-3] = count(); @c[(short)-2] = count(); @c[(unsigned char)254] = count(); exit(0); }'
>
>        -2                1
>         1                2
>       254                1
>        -3                2
>     65533                1
>     -2                1
>    254                1
# at equal values the order of keys is the same without aggsortkey
$ erltrace -qn 'BEGIN { @a[1] = count(); @a[-2] = count(); @a[0] = count(); exit(0); }'
>
>        -2                1
>         0                1
>         1                1
# the type of an expression is its common type
$ erltrace -qxaggsortkey -n 'BEGIN { @a[pid > 0 ? -1 : 1u] = count(); @a[1] = count(); exit(0); }'
>
>         1                1
>  4294967295                1
# a wider use widens the key: nothing of a value is lost, in whatever order
$ erltrace -qxaggsortkey -n 'BEGIN { @a[1] = count(); @a[-1] = count(); @a[4294967298] = count(); @a[-1L] = count(); printa("%d %@d\n", @a); @b[(char)-1, "x"] = count(); exit(0); }' -n 'END { @b[-1000000000000, "x"] = count(); @b[0xffff, "x"] = count(); printa("%d %s %@d\n", @b); }'
> -1 2
> 1 1
> 4294967298 1
> -1000000000000 x 1
> -1 x 1
> 65535 x 1
>
