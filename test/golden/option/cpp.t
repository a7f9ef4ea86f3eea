# cpp: script files through the preprocessor, as -C
< c.d
| #define ANSWER 42
| #ifdef EXTRA
| #define WORD EXTRA
| #else
| #define WORD "none"
| #endif
| BEGIN { printf("%d %s\n", ANSWER, WORD); exit(0); }
$ erltrace -q -xcpp -s c.d
> 42 none
>
# define and undef, as -D and -U
$ erltrace -q -xcpp '-xdefine=EXTRA="some"' -s c.d
> 42 some
>
$ erltrace -qC '-DEXTRA="some"' -UEXTRA -s c.d
> 42 none
>
# cppargs
$ erltrace -qC '-xcppargs=-DEXTRA="args"' -s c.d
> 42 args
>
# incdir, as -I
$ mkdir inc; echo '#define FROM_INC 7' > inc/x.h; printf '#include <x.h>\nBEGIN { printf("%%d\\n", FROM_INC); exit(0); }\n' > i.d; erltrace -qC -xincdir=inc -s i.d
> 7
>
$ erltrace -qC -Iinc -s i.d
> 7
>
# cpphdrs, as -H: which headers
$ erltrace -e -qC -Iinc -H -s i.d 2>&1 | grep -c '^\. inc/x.h'
> 1
# cpppath: another preprocessor
< mycpp
| #!/bin/sh
| cat <<'E'
| BEGIN { printf("other\n"); exit(0); }
| E
$ chmod +x mycpp; erltrace -qC -xcpppath=./mycpp -s c.d
> other
>
$ erltrace -qC -xcpppath=./nosuchcpp -s c.d
!~ ^erltrace: failed to compile script c.d: .*nosuchcpp
? 1
# what is predefined
< d.d
| #if defined(__linux) && defined(__unix) && defined(__SVR4) && __SUNW_D == 1 && defined(__SUNW_D_64) && defined(__SUNW_D_VERSION) && !defined(__GNUC__)
| BEGIN { printf("all\n"); exit(0); }
| #endif
$ erltrace -qC -s d.d
> all
>
# stdc, as -X
$ for x in a c s t; do erltrace -qC -X $x -s c.d; done | grep -c 42
> 4
# without -C a #define is no control line of D
$ erltrace -e -xerrtags -s c.d
!~ \[D_PRAGCTL_INVAL\] line 1: 
? 1
# not for -n
$ erltrace -qC '-DX=5' -n 'BEGIN { X = 1; printf("%d\n", X); exit(0); }'
> 1
>
# an error of the preprocessor
$ printf '#error not today\n' > bad.d; erltrace -e -C -s bad.d 2>&1 | grep -c 'not today'
> 1
# errors in what it made say the line of the script
< e.d
| #define BAD nosuch
|
| BEGIN { trace(BAD); }
$ erltrace -e -C -s e.d
!~ ^erltrace: failed to compile script e.d: (".*e.d", )?line 3: .*nosuch
? 1
