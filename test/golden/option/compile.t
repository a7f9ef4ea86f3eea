# defaultargs: missing arguments are 0 or ""
$ erltrace -q -xdefaultargs -n 'BEGIN { printf("[%d] [%s]\n", $1, $$2); exit(0); }'
> [0] []
>
# argref: not all need be used
$ erltrace -e -xerrtags -n 'BEGIN { exit(0); }' extra
!~ \[D_MACRO_UNUSED\]
? 1
$ erltrace -q -xargref -n 'BEGIN { exit(0); }' extra
>
# zdefs: descriptions that match nothing
$ erltrace -e -q -xzdefs -n 'nosuch:::probe { exit(0); }'
# pspec: no body needed
< p.d
| BEGIN
| BEGIN { exit(0); }
$ erltrace -q -xpspec -s p.d
>
# empty: nothing in a script
< e.d
| /* nothing */
$ erltrace -e -xerrtags -s e.d
!~ \[D_EMPTY\]
? 1
$ erltrace -e -q -xempty -s e.d
# errtags
$ erltrace -e -xerrtags -n 'BEGIN { nosuch(); }'
!~ ^erltrace: invalid probe specifier BEGIN \{ nosuch\(\); \}: \[D_FUNC_UNDEF\] 
? 1
$ erltrace -e -n 'BEGIN { nosuch(); }' 2>&1 | grep -c D_FUNC
> 0
? 1
# nolibs: without the libraries their names are unknown
$ erltrace -q -n 'BEGIN { printf("%d\n", SIGKILL); exit(0); }'
> 9
>
$ erltrace -q -xnolibs -xerrtags -n 'BEGIN { printf("%d\n", SIGKILL); exit(0); }'
!~ \[D_(IDENT|VAR)_UNDEF\].*SIGKILL
? 1
# libdir: a folder of libraries
$ mkdir lib; echo 'inline int answer = 42;' > lib/a.d; erltrace -q -xlibdir=lib -n 'BEGIN { printf("%d\n", answer); exit(0); }'
> 42
>
# syslibdir: instead of those built in
$ erltrace -q -xsyslibdir=lib -n 'BEGIN { printf("%d\n", answer); exit(0); }'
> 42
>
$ erltrace -q -xsyslibdir=lib -xerrtags -n 'BEGIN { printf("%d\n", SIGKILL); exit(0); }'
!~ \[D_(IDENT|VAR)_UNDEF\].*SIGKILL
? 1
# strsize: strings are cut, sizeof (string) tells
$ erltrace -q -xstrsize=16 -n 'BEGIN { s = "0123456789abcdefgh"; printf("%s %d\n", s, sizeof (string)); exit(0); }'
> 0123456789abcdef 16
>
# jit: off gives the same
$ erltrace -q -xjit=off -n 'BEGIN { x = 7; printf("%d %s\n", x * 6 / 2 % 5, strjoin("a", "b")); exit(0); }'
> 1 ab
>
# verbose: the program, as -S
$ erltrace -q -xverbose -n 'BEGIN { exit(0); }' 2>&1 | grep -c 'call'
~ ^[1-9]
# version: of the D language
$ erltrace -q -xversion=1.0 -n 'BEGIN { printf("ok\n"); exit(0); }'
> ok
>
$ erltrace -q -xversion=99.0 -n 'BEGIN { printf("ok\n"); exit(0); }'
!~ ^erltrace: .*version
? 1
# amin: the least stability
$ erltrace -q -xerrtags -xamin=Stable/Stable/Common -n 'BEGIN { printf("%d\n", curthread != 0); exit(0); }'
!~ \[D_ATTR_MIN\]
? 1
# tree: the syntax tree
$ erltrace -e -q -xtree=1 -n 'BEGIN { x = 40 + 2; }' 2>&1 | grep -c .
~ ^[1-9]
# ctypes, dtypes: types written to a file
$ erltrace -e -q -xdtypes=d.out -n 'struct mine { int a; }; BEGIN { exit(0); }'; grep -c 'mine' d.out
~ ^[1-9]
$ erltrace -e -q -xctypes=c.out -n 'BEGIN { exit(0); }'; grep -c 'int' c.out
~ ^[1-9]
