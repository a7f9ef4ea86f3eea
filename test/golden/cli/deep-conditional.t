# ?: nested in the middle is an error, not a crash
$ echo "BEGIN { x = $(printf '%.0s1?' $(seq 100000)); }" > deep.d; erltrace -e -xerrtags -s deep.d
!~ \[D_SYNTAX\] line 1: nested too deeply
? 1
$ echo "BEGIN { x = $(printf '%.0s1 ? ' $(seq 50)) 7 $(printf '%.0s: 0 ' $(seq 50)); printf(\"%d\n\", x); exit(0); }" > ok.d; erltrace -qs ok.d
> 7
>
