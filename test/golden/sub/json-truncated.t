# text that ends inside a value gives NULL: a number or a word could go on
< t.d
| #define N(j, p) printf("%d", json(j, p) == NULL);
| BEGIN
| {
| 	N("{\"a\": 12", "a") N("{\"a\": tru", "a") N("{\"a\": true", "a") N("{\"a\": \"x", "a") N("{\"a\": \"x\\", "a")
| 	N("{\"a\": {\"b\": 1}", "b") N("{\"a\": [1, 2", "a") N("{\"a\": [1, 2", "a[1]") N("{\"a\"", "a") N("[1, 2", "1")
| 	printf(" %s %s %s\n", json("{\"a\": 12,", "a"), json("{\"a\": {\"b\": 1}", "a"), json("[1, 2", "0"));
| 	exit(0);
| }
$ erltrace -C -qs t.d
> 1111111111 12 {"b": 1} 1
>

# so does what is no JSON before it
$ erltrace -qn 'BEGIN { printf("%d%d%d%d", json("{\"a\": nul}", "a") == NULL, json("{\"a\": 0x10}", "a") == NULL, json("{\"a\": 1-2}", "a") == NULL, json("{\"a\" 1}", "a") == NULL); printf("%d%d%d%d\n", json("{\"x\": [1}, \"a\": 1}", "a") == NULL, json("{\"x\": yes, \"a\": 1}", "a") == NULL, json("{a: 1}", "a") == NULL, json("5", "") == NULL); exit(0); }'
> 11111111
>
