# macros inside descriptions are pasted as text
$ erltrace -qn '$1:::BEGIN { printf("%s\n", probeprov); exit(0); }' dtrace
> dtrace
>
$ erltrace -qn 'dtrace:::B$1N { printf("%s\n", probename); exit(0); }' EGI
> BEGIN
>
$ erltrace -qn '$$1 { printf("%s\n", probename); exit(0); }' dtrace:::BEGIN
> BEGIN
>
$ erltrace -qn 'tick-$1ms { printf("%s\n", probename); exit(0); }' 7
> tick-7ms
>
# an undefined one is an error
$ erltrace -e -xerrtags -n 'dtrace:::$1 { exit(0); }'
!~ \[D_MACRO_UNDEF\]
? 1
$ erltrace -e -xerrtags -n 'dtrace:::$nosuch { exit(0); }'
!~ \[D_MACRO_UNDEF\]
? 1
