# by more than the width: done in 64 bits and cut when recorded, by constants as by variables
$ erltrace -qn 'BEGIN { x = 3; m = -8; u = 0xfffffff8; l = 5L; n = 33; k = 64; printf("%d %d %d %d\n", x << n, m >> n, u >> n, l << k); exit(0); }'
> 0 -1 0 5
>
$ erltrace -qn 'BEGIN { printf("%d %d %d %d\n", 3 << 33, -8 >> 33, 0xfffffff8 >> 33, 5L << 64); exit(0); }'
> 0 -1 0 5
>
