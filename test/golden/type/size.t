# sizes of the integer types, on a 64-bit machine
< t.d
| #define P(t) printf("%d ", sizeof (t));
| BEGIN
| {
| 	P(char) P(signed char) P(unsigned char) P(short) P(unsigned short int) P(int) P(signed)
| 	P(unsigned) P(long) P(unsigned long) P(long long) P(unsigned long long int) P(_Bool)
| 	printf("\n");
| 	P(float) P(double) P(long double)
| 	printf("\n");
| 	P(int8_t) P(int16_t) P(int32_t) P(int64_t) P(uint8_t) P(uint16_t) P(uint32_t) P(uint64_t)
| 	printf("\n");
| 	P(intptr_t) P(uintptr_t) P(size_t) P(ssize_t) P(ptrdiff_t)
| 	printf("\n");
| 	P(uchar_t) P(ushort_t) P(uint_t) P(ulong_t) P(u_longlong_t) P(id_t) P(pid_t)
| 	printf("\n");
| 	P(void *) P(char *) P(int (*)(char)) P(int [3]) P(int [2][3][4]) P(char *[5]) P(char (*)[5])
| 	P(string)
| 	printf("\n");
| 	exit(0);
| }
$ erltrace -C -qs t.d
> 1 1 1 2 2 4 4 4 8 8 8 8 1 
> 4 8 16 
> 1 2 4 8 1 2 4 8 
> 8 8 8 8 8 
> 1 2 4 8 8 4 4 
> 8 8 8 12 96 40 8 256 
>
# sizeof an expression does not evaluate it; of a string constant it is its length and the NUL
$ erltrace -qn 'BEGIN { x = 1; printf("%d %d %d %d ", sizeof (x++), sizeof x, sizeof (probename), sizeof ("abc")); printf("%d\n", x); exit(0); }'
> 4 4 256 4 1
>
# sizeof (string) is strsize
$ erltrace -xstrsize=64 -qn 'BEGIN { printf("%d\n", sizeof (string)); exit(0); }'
> 64
>
# its type is size_t: unsigned, 64 bits
$ erltrace -qn 'BEGIN { printf("%d %d\n", sizeof (sizeof (int)), -1 < sizeof (int)); exit(0); }'
> 8 0
>
# addresses that print as symbols
$ erltrace -qn 'BEGIN { printf("%d %d\n", sizeof (_symaddr), sizeof (_usymaddr)); exit(0); }'
> 8 8
>

# NULL is the constant 0
$ erltrace -qn 'BEGIN { printf("%d\n", sizeof (NULL)); exit(0); }'
> 4
>
