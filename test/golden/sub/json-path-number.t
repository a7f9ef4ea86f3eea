# a part of a path may be a bare number: a[0].b, a.0.b and, at the start, 0.b are elements
< t.d
| BEGIN
| {
| 	j = "[{\"first\": [1, [2, 3]], \"0\": \"zero\"}, {\"first\": \"second\"}]";
| 	printf("%s|%s|%s|%s\n", json(j, "0.first"), json(j, "[0].first"), json(j, "1.first"), json(j, "0.first[0]"));
| 	printf("%s|%s|%s|%s\n", json(j, "0.first.0"), json(j, "0.first.1.0"), json(j, "0.first[1].1"), json(j, "[0].first.1[1]"));
| 	/* in an object it is a name */
| 	printf("%s|%s\n", json(j, "0.0"), json(j, "0[0]"));
| 	exit(0);
| }
$ erltrace -qs t.d
> [1, [2, 3]]|[1, [2, 3]]|second|1
> 1|2|3|3
> zero|zero
>

# no such element: NULL
$ erltrace -qn 'BEGIN { j = "[1, 2]"; printf("%d%d%d%d%d%d %d\n", json(j, "2") == NULL, json(j, "x") == NULL, json(j, "") == NULL, json(j, "-1") == NULL, json(j, "99999999999999999999") == NULL, json(j, "0.0") == NULL, json(j, "00") == NULL); exit(0); }'
> 111111 0
>

# an empty part is the empty name
$ erltrace -qn 'BEGIN { j = "{\"\": {\"\": 5}}"; printf("%s %s\n", json(j, ""), json(j, ".")); exit(0); }'
> {"": 5} 5
>
