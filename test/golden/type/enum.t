# enumerators count up from the last one; they are int constants
< t.d
| enum colour { RED, GREEN = 5, BLUE, LOW = -3, LOWER };
| typedef enum { ON = 1 << 4, OFF = ON | 1 } state_t;
| enum colour c;
| BEGIN
| {
| 	printf("%d %d %d %d %d %d %d\n", RED, GREEN, BLUE, LOW, LOWER, ON, OFF);
| 	printf("%d %d\n", sizeof (enum colour), sizeof (state_t));
| 	c = BLUE;
| 	s = (state_t)OFF;
| 	printf("%d %d %d\n", c, c == BLUE, s + 1);
| 	exit(0);
| }
$ erltrace -qs t.d
> 0 5 6 -3 -2 16 17
> 4 4
> 6 1 18
>
# as array sizes and in predicates
< p.d
| enum { N = 3 };
| int a[N];
| BEGIN /N == 3/ { a[N - 1] = 9; printf("%d %d\n", sizeof (a), a[2]); exit(0); }
$ erltrace -qs p.d
> 12 9
>
