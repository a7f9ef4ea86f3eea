# a key has the type and the sign of its first use; later values are converted to it, and keys sort
# by their sign
$ erltrace -qxaggsortkey -n 'BEGIN { @a[-1] = count(); @a[1] = count(); @a[0xffffffffu] = count(); @a[4294967298] = count(); @a[0] = count(); exit(0); }'
>
>        -1                2
>         0                1
>         1                1
>         2                1
$ erltrace -qxaggsortkey -n 'BEGIN { @b[1u] = count(); @b[-1] = count(); @b[2] = count(); exit(0); }'
>
>         1                1
>         2                1
>  4294967295                1
# of every width, as one of several keys, printed by a format as well
$ erltrace -qxaggsortkey -n 'BEGIN { @c[(char)-5, "x"] = count(); @c[5, "y"] = count(); @c[251, "x"] = count(); printa("%d %s %@d\n", @c); @d[(short)-5] = count(); @d[65530] = count(); @d[7] = count(); printa("%d %@d\n", @d); exit(0); }'
> -5 x 2
> 5 y 1
> -6 1
> -5 1
> 7 1
>
$ erltrace -qxaggsortkey -n 'BEGIN { @d[1UL] = count(); @d[-1] = count(); printa("%d %@d\n", @d); @e[-1L] = count(); @e[1UL] = count(); @e[18446744073709551615u] = count(); printa("%d %@d\n", @e); exit(0); }'
> 1 1
> 18446744073709551615 1
> -1 2
> 1 1
>
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
