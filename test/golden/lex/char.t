# character constants: one to eight bytes, the first most significant
< t.d
| BEGIN
| {
| 	printf("%d %d %d %d\n", 'a', '\n', '\0', '\377');
| 	printf("%d %d %d\n", '\'', '\\', '"');
| 	printf("%x %x %x\n", 'ab', 'abcd', 'abcdefgh');
| 	printf("%d %d\n", sizeof ('a'), sizeof ('abcdefgh'));
| 	printf("%d %d\n", '\x41', '\101');
| 	exit(0);
| }
$ erltrace -qs t.d
> 97 10 0 255
> 39 92 34
> 6162 61626364 6162636465666768
> 4 8
> 65 65
>
