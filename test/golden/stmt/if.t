# if and else, with and without braces
$ erltrace -qn 'BEGIN { x = 3; if (x == 3) printf("a\n"); if (x == 4) printf("b\n"); if (x == 4) { printf("c\n"); } else { printf("d\n"); } if (x) printf("e\n"); else printf("f\n"); exit(0); }'
> a
> d
> e
>
# else if
< t.d
| tick-1ms
| {
| 	n++;
| 	if (n == 1) {
| 		printf("one\n");
| 	} else if (n == 2) {
| 		printf("two\n");
| 	} else if (n == 3)
| 		printf("three\n");
| 	else {
| 		printf("more\n");
| 		exit(0);
| 	}
| }
$ erltrace -qs t.d
> one
> two
> three
> more
>
# an else belongs to the nearest if
$ erltrace -qn 'BEGIN { if (1) if (0) printf("a\n"); else printf("b\n"); if (0) { if (1) printf("c\n"); } else printf("d\n"); exit(0); }'
> b
> d
>
# nested, with several actions and variables
$ erltrace -qn 'BEGIN { x = 5; if (x > 1) { y = 1; if (x > 3) { y = 2; if (x > 10) { y = 3; } printf("%d\n", y); } printf("out\n"); } printf("end\n"); exit(0); }'
> 2
> out
> end
>
# aggregations, this->, strings in branches
$ erltrace -qn 'BEGIN { this->s = "a"; if (probename == "BEGIN") { this->s = "b"; @["in"] = count(); } else @["out"] = count(); printf("%s\n", this->s); exit(0); } END { printa("%s %@d\n", @); }'
> b
> in 1
>
# empty statements and branches; the last ; is optional
$ erltrace -qn 'BEGIN { ; if (1) ; else printf("no\n"); if (0) {} else {} ; if (1) { printf("yes\n") } exit(0) }'
> yes
>
# exit in a branch
$ erltrace -qn 'BEGIN { if (0) exit(1); else exit(4); }'
>
? 4
# the condition: integers and pointers
$ erltrace -qn 'BEGIN { if ((char *)8) printf("ptr\n"); if (0x100000000) printf("wide\n"); if (!1 || 0) printf("no\n"); exit(0); }'
> ptr
> wide
>
