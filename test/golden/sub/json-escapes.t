# escapes stay as written, in values and in names
< t.d
| BEGIN
| {
| 	j = "{\"a\": \"x\\n\\\"y\\\\\\/\\u0041\\u00e9\", \"b\\u0020\": 1, \"c\": [\"\\t\"]}";
| 	printf("%s|%s|%s|%s\n", json(j, "a"), json(j, "b\\u0020"), json(j, "c"), json(j, "c[0]"));
| 	printf("%d\n", json(j, "b ") == NULL);
| 	exit(0);
| }
$ erltrace -qs t.d
> x\n\"y\\\/\u0041\u00e9|1|["\t"]|\t
> 1
>

# a bad \u is no JSON, wherever it comes before the value's end
$ erltrace -qn 'BEGIN { printf("%d%d%d%d%d%d", json("{\"a\": \"\\u12\"}", "a") == NULL, json("{\"a\": \"\\u123g\"}", "a") == NULL, json("{\"a\": \"\\u\"}", "a") == NULL, json("{\"x\": \"\\uxyzw\", \"a\": 1}", "a") == NULL, json("{\"\\u00\": 1, \"a\": 1}", "a") == NULL, json("[[\"\\uabc\"], 1]", "1") == NULL); printf(" %s %s\n", json("{\"a\": 1, \"x\": \"\\uxyzw\"}", "a"), json("{\"a\": \"\\uABcd0\"}", "a")); exit(0); }'
> 111111 1 \uABcd0
>
