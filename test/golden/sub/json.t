# json(text, path): the element as text; strings without their quotes, their escapes as they are
< t.d
| inline string J = "{ \"a\": 1, \"b\": { \"c\": \"text\", \"d\": [10, -2.5e3, { \"e\": true }, [null]] }, \"x y\": \"q\\\"uote\", \"\": 0 }";
| #define P(p) printf("[%s]\n", json(J, p));
| BEGIN
| {
| 	P("a") P("b.c") P("b.d[0]") P("b.d[1]") P("b.d[2].e") P("x y")
| 	exit(0);
| }
$ erltrace -C -xstrsize=512 -qs t.d
> [1]
> [text]
> [10]
> [-2.5e3]
> [true]
> [q\"uote]
>
# what is not there is NULL
$ erltrace -qn 'BEGIN { j = "{\"a\":{\"b\":[1,2]}}"; printf("%d %d %d %d %d\n", json(j, "x") == NULL, json(j, "a.x") == NULL, json(j, "a.b[2]") == NULL, json(j, "b") == NULL, json(j, "a.b[1]") == NULL); exit(0); }'
> 1 1 1 1 0
>
# objects and arrays as they stand
$ erltrace -qn 'BEGIN { j = "{\"a\":{\"b\":[1,2]}}"; printf("%s %s\n", json(j, "a"), json(j, "a.b")); exit(0); }'
> {"b":[1,2]} [1,2]
>
# an array at the top; null, false
$ erltrace -qn 'BEGIN { j = "[ null , false, [5] ]"; printf("%s %s %s %s\n", json(j, "[0]"), json(j, "[1]"), json(j, "[2][0]"), json(j, "[2]")); exit(0); }'
> null false 5 [5]
>
# no JSON
$ erltrace -qn 'BEGIN { printf("%d %d %d\n", json("", "a") == NULL, json("{\"a\":", "a") == NULL, json("nonsense", "a") == NULL); exit(0); }'
> 1 1 1
>
# numbers go on with strtoll()
$ erltrace -qn 'BEGIN { printf("%d\n", strtoll(json("{\"n\": 41}", "n")) + 1); exit(0); }'
> 42
>
