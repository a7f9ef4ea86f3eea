# integers are 64 bits until they are stored, cast or recorded: by constants as by variables
$ erltrace -qn 'BEGIN { i = 100000; @a = sum(i * i); @b = sum(1 << 40); @c = sum(100000 * 100000); @d = sum(-i * i * i); printa("%@d\n", @a); printa("%@d\n", @b); printa("%@d\n", @c); printa("%@d\n", @d); exit(0); }'
> 10000000000
> 1099511627776
> 10000000000
> -1000000000000000
>
# recorded as what they are: int, so 32 bits of it
$ erltrace -qn 'BEGIN { i = 100000; printf("%d %d %d\n", i * i, 1 << 40, (int64_t)(i * i)); trace(i * i); exit(0); }'
> 1410065408 0 10000000000
> 1410065408
# stored: the variable has the type of its first value
$ erltrace -qn 'int64_t l; BEGIN { i = 100000; x = i * i; l = i * i; self->y = i * i; a[1] = i * i; printf("%d %d %d %d %d\n", x, l, self->y, a[1], sizeof (x)); exit(0); }'
> 1410065408 10000000000 1410065408 1410065408 4
>
# cast, to the same type too; a wider type keeps all of it
$ erltrace -qn 'BEGIN { i = 100000; u = 4000000000; printf("%d %d %d\n", (int)(i * i) / 3, (i * i) / 3, (long)(u + u) / 4); exit(0); }'
> 470021802 -961633963 2000000000
>
$ erltrace -qn 'BEGIN { i = 100000; @a = sum((int)(i * i)); @b = sum((uint8_t)(i + 255)); printa("%@d %@d\n", @a, @b); exit(0); }'
> 1410065408 159
>
# conditions and comparisons see all of it
$ erltrace -qn 'BEGIN /(1 << 40) != 0/ { i = 65536; printf("%d %d %d %d %s\n", i * i > 0, i * i == 4294967296, !(i * i), (i * i) && 1, i * i ? "yes" : "no"); exit(0); }'
> 1 1 0 1 yes
>
$ erltrace -qn 'BEGIN { i = 65536; if (i * i) { printf("if\n"); } else { printf("else\n"); } exit(0); }'
> if
>
# arguments: of aggregating functions, of subroutines (lltostr() takes 64 bits), indices
$ erltrace -qn 'BEGIN { i = 100000; printf("%s %s\n", lltostr(i * i), lltostr(1 << 40)); @q = quantize(i * i * i); exit(0); }'
> 10000000000 1099511627776
>
>
>            value  ------------- Distribution ------------- count    
>  281474976710656 |                                         0        
>  562949953421312 |@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@ 1        
> 1125899906842624 |                                         0        
>
$ erltrace -qn 'int a[4]; BEGIN { i = 65536; a[3] = 5; trace(a[i * i + 3]); exit(0); }' -n 'ERROR { printf("fault %d\n", arg4); exit(0); }'
> fault 11
>
!~ index out of bounds
# a key is cut to the type of the key
$ erltrace -qn 'BEGIN { c = (unsigned char)250; @a[c] = count(); @a[c + c] = count(); @a[(unsigned char)244] = count(); d = (unsigned char)128; @a[d + d + c] = count(); exit(0); }'
>
>  244                2
>  250                2
$ erltrace -qn 'int n[uint8_t]; BEGIN { i = 250; n[i + 6] = 7; printf("%d %d\n", n[0], n[512]); exit(0); }'
> 7 7
>
# ?: has the common type, and cuts nothing
$ erltrace -qn 'BEGIN { i = 100000; u = 1u; @ = sum(i ? i * i : u); printf("%u\n", i ? -i : u); exit(0); }'
> 4294867296
>
>       10000000000
