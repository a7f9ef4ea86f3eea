# a backslash at the end of a line is skipped, also in a control line
< t.d
| #pragma D \
| 	option quiet
| BEGIN \
| {
| 	printf("%d\n", 1 + \
| 		2); \
| 	exit(0);
| }
$ erltrace -s t.d
> 3
>
