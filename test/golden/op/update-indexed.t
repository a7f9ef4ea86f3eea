# += and ++ of an element whose index only the program knows: every width, and inside structs
$ erltrace -qn 'int a[8]; BEGIN { i = 1; a[i]++; a[i] -= 3; x = a[i]++; y = ++a[i]; z = a[i]--; printf("%d %d %d %d\n", a[1], x, y, z); exit(0); }'
> -1 -2 0 0
>
< t.d
| struct s { uint8_t a[3]; short b[3]; uint32_t c[3]; int64_t d[3]; };
| struct s g[2];
| BEGIN
| {
| 	i = 1;
| 	g[i].a[i] -= 3; g[i].b[i] -= 5; g[i].c[i] -= 7; g[i].d[i] -= 9; g[i].d[2]++;
| 	printf("%d %d %d %d %d\n", g[1].a[1], g[1].b[1], g[1].c[1], g[1].d[1], g[1].d[2]);
| 	printf("%d %d %d %d %d\n", g[0].a[1], g[1].b[2], g[1].c[0], g[1].d[0], g[0].d[2]);
| 	exit(0);
| }
$ erltrace -qs t.d
> 253 -5 4294967289 -9 1
> 0 0 0 0 0
>
