# arguments of scripts by name, as the head declares them, beside those by position
< who.d
| /*
|  * who.d: shows its arguments.
|  *
|  *	erltrace -N NODE -qs who.d [sort=WORD] [module=NAME] [over=MICROSECONDS] [for=SECONDS] [rows=N]
|  */
| #pragma D option defaultargs
| BEGIN { printf("%s %s %d %d %d", $$1, $$2, $3, $4, $5); exit(0); }
$ erltrace -qs who.d module=shop over=10ms for=5s
>  shop 10000 5 0
$ erltrace -qs who.d for=5s up rows=7 shop
> up shop 0 5 7
# by position too, with a unit; a word that is left out
$ erltrace -qs who.d up shop 1.5ms 2m 3
> up shop 1500 120 3
$ erltrace -qs who.d up shop 20 3
> up shop 20 3 0
# what is no declared name, or no such value
$ erltrace -qs who.d modul=shop
! erltrace: who has no argument modul=: it takes sort=, module=, over=, for=, rows= (erltrace --scripts who says more; a value that is not meant so comes after --)
? 2
$ erltrace -qs who.d for=1500ms
! erltrace: who: for= takes whole seconds, not '1500ms'
? 2
$ erltrace -qs who.d over=
! erltrace: who: over= takes whole microseconds, not ''
? 2
$ erltrace -qs who.d rows=many
! erltrace: who: rows= takes a number, not 'many'
? 2
$ erltrace -qs who.d rows=1 rows=2
! erltrace: who: rows= is there twice
? 2
# after -- nothing has a name
$ erltrace -qs who.d rows=2 -- modul=shop
> modul=shop  0 0 2
# too many
$ erltrace -qs who.d 1 2 3 4 5 6 2>&1 | grep -c extraneous
> 1
# late-2-means-milliseconds: on a terminal it says so
$ script -qec "erltrace -qs late 2 -e -x errtags" /dev/null </dev/null 2>&1 | grep -o 'over=2, until.*)'
> over=2, until ^C (for=2s: for so many seconds)
# every script of the library declares its arguments so
$ for f in "$TREE"/scripts/*.d; do grep -qE '^ \*	erltrace -N NODE -qs [a-z]+\.d( \[?[a-z_]+=[A-Z]+\]?)+$' "$f" || echo "$f"; done
# one that is needed
< needs.d
| /*
|  * needs.d: shows its arguments.
|  *
|  *	erltrace -N NODE -qs needs.d module=NAME [over=MILLISECONDS [for=SECONDS]] [rows=N]
|  */
| #pragma D option defaultargs
| BEGIN { printf("%s %d %d %d", $$1, $2, $3, $4); exit(0); }
$ erltrace -qs needs.d for=5
! erltrace: needs needs module=NAME (erltrace --scripts needs says more)
? 2
$ erltrace -qs needs.d module=shop for=5
> shop 0 5 0
$ erltrace -qs needs.d for=5 shop
> shop 0 5 0
