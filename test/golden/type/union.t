# members of a union share their bytes (little-endian here)
< t.d
| union u { uint32_t w; uint16_t h[2]; uint8_t b[4]; };
| union u g;
| BEGIN
| {
| 	g.w = 0x11223344;
| 	printf("%x %x %x\n", g.h[1], g.b[0], g.b[3]);
| 	g.b[1] = 0xff;
| 	printf("%x\n", g.w);
| 	exit(0);
| }
$ erltrace -qs t.d
> 1122 44 11
> 1122ff44
>
