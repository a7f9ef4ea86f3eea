# char * = string: the address of its text, which can be written to in a variable
$ erltrace -qn 'char *p; string s; BEGIN { s = "hello"; p = s; p[0] = 0x4a; printf("%s %c %s\n", s, p[1], stringof(p + 2)); exit(0); }'
> Jello e llo
>
# a string constant is not one
$ erltrace -qn 'char *p; BEGIN { p = "hello"; printf("%c\n", p[4]); } BEGIN { p = "hello"; p[0] = 1; } BEGIN { exit(0); } ERROR { printf("fault %d\n", arg4); }'
> o
> fault 1
>
!~ invalid address
# string + int: the rest of the string; it is a string
$ erltrace -qn 'BEGIN { s = "hello"; n = 2; printf("%s|%s|%s|%s|%d\n", s + n, 4 + s, s + 9, probename + 1, sizeof (s + 1) == sizeof (string)); trace(s + 1); exit(0); }'
> llo|o||EGIN|1
> ello
# *(string *)p = s: the text with its NUL
$ erltrace -qn 'BEGIN { this->m = (char *)alloca(16); *(string *)this->m = "copied"; printf("%s %c %d\n", *(string *)this->m, this->m[3], this->m[6]); exit(0); }'
> copied i 0
>
$ erltrace -qn 'BEGIN { this->m = (char *)alloca(4); *(string *)this->m = "too long for it"; } BEGIN { exit(0); } ERROR { printf("fault %d\n", arg4); }'
> fault 1
>
!~ invalid address
# s[0] = 'x': of global, this->, self-> and associative strings
< t.d
| string s;
| self string t;
| string u[int];
| this string v;
| BEGIN
| {
| 	s = "hello"; s[0] = 'J'; self->t = "world"; self->t[4] = 'D'; u[1] = "xyz"; u[1][1] = 'Y';
| 	this->v = "abc"; i = 2; this->v[i] = 'C'; s[1]++; s[i] -= 32; w = (s[4] = 'O');
| 	printf("%s %s %s %s %c\n", s, self->t, u[1], this->v, w);
| 	s[3] = 0; u[2][0] = 'n';
| 	printf("%s %s\n", s, u[2]);
| 	exit(0);
| }
$ erltrace -qs t.d
> JfLlO worlD xYz abC O
> JfL n
>
# the address of a NULL string is NULL
$ erltrace -qn 'string s; char *p; BEGIN { s = "x"; s = NULL; p = s; printf("%p\n", p); exit(0); }'
> 0
>
# its last byte stays a NUL
$ erltrace -xstrsize=16 -qn 'string s; BEGIN { i = 1000; s[i] = 1; } BEGIN { exit(0); } ERROR { printf("fault %d\n", arg4); }'
> fault 11
>
!~ index out of bounds
# what is no variable is not changed
$ erltrace -e -xerrtags -n 'BEGIN { probename[0] = 1; }'
!~ \[D_OP_LVAL\]
? 1
