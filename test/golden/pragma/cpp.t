# -C: cpp on files, with -D, -U, -I and its predefined names
< inc/one.h
| #ifndef ONE
| #define ONE 1
| #endif
< t.d
| #include "one.h"
| #ifdef WANT
| #define RESULT ONE + WANT
| #else
| #define RESULT -1
| #endif
| #if defined(__linux) && defined(__unix) && defined(__SVR4) && defined(__Linux) && defined(__SUNW_D_64) && __SUNW_D == 1
| #define NAMES 1
| #else
| #define NAMES 0
| #endif
| BEGIN
| {
| 	printf("%d %d\n", RESULT, NAMES);
| 	exit(0);
| }
$ erltrace -C -I inc -D WANT=41 -qs t.d
> 42 1
>
$ erltrace -C -Iinc -qs t.d
> -1 1
>
$ erltrace -C -I inc -D WANT=1 -U __linux -qs t.d
> 2 0
>
# an error behind an #include has the script's line
< bad.d
| #include "one.h"
|
| BEGIN
| {
| 	trace(nosuch);
| }
$ erltrace -C -I inc -e -s bad.d
!~ ^erltrace: failed to compile script bad.d: line 5: 
? 1
# without -C a directive is an error
$ erltrace -e -xerrtags -s t.d
!~ \[D_PRAGCTL_INVAL\] line 1: .*-C
? 1
# as an option of the script's command line
$ erltrace -xcpp -I inc -qs t.d
> -1 1
>
# not on text given by -n
$ erltrace -C -D X=1 -e -xerrtags -n 'BEGIN { trace(X); }'
!~ \[D_IDENT_UNDEF\]
? 1
# names that say what runs here; the compiler's own is not there
< names.d
| #if defined(__GNUC__) || !defined(__amd64) || __SUNW_D_VERSION < 0x1000000
| #error wrong names
| #endif
| BEGIN { printf("%d\n", __SUNW_D_VERSION > 0); exit(0); }
$ erltrace -C -qs names.d
> 1
>
# -H tells what was included
$ erltrace -C -H -I inc -qs t.d
> -1 1
>
!~ one\.h
# a failing preprocessor is an error
< fail.d
| #error stop here
| BEGIN { exit(0); }
$ erltrace -C -e -s fail.d 2>&1 | grep -c 'stop here'
> 1
