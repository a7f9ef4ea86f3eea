# basename() and dirname(), as POSIX has them
< t.d
| #define P(s) printf("%s|%s\n", basename(s), dirname(s));
| BEGIN
| {
| 	P("/foo/bar") P("/foo/bar/") P("foo/bar//") P("foo") P("/foo") P("/") P("//") P("") P("a/b/c")
| 	exit(0);
| }
$ erltrace -C -qs t.d
> bar|/foo
> bar|/foo
> bar|foo
> foo|.
> foo|/
> /|/
> /|/
> .|.
> c|a/b
>
# cleanpath() drops //, /./ and /../
< c.d
| #define P(s) printf("%s\n", cleanpath(s));
| BEGIN
| {
| 	P("/a/b") P("/a//b///c") P("/a/./b/./c") P("/a/b/../c") P("/a/b/../../c") P("/../a")
| 	P("/a/.../b") P("/a/.b/..c") P("a/b") P("") P("/a/b/")
| 	exit(0);
| }
$ erltrace -C -qs c.d
> /a/b
> /a/b/c
> /a/b/c
> /a/c
> /c
> /a
> /a/.../b
> /a/.b/..c
> a/b
>
> /a/b/
>
