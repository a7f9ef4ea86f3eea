# a record that no buffer has room for is an error: it would take that much of every thread
$ erltrace -x strsize=64k -qn 'BEGIN { printf("%s %s", probefunc, probename); exit(0); }' -b 64k
! erltrace: could not enable tracing: line 1: a record of this clause may take 131120 bytes, with 2 strings of up to strsize=65536; bufsize=65536 is less: make bufsize larger (-b), strsize smaller, or split the clause
? 1
$ erltrace -x strsize=64k -b 129k -qn 'BEGIN { printf("%s%s\n", probefunc, probename); exit(0); }'
> BEGIN
>

# as many strings as 256 MB hold
< many.sh
| { echo 'BEGIN {'; for ((i = 0; i < 70; i++)); do echo 'printf("%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s%s", probename, probename, probename, probename, probename, probename, probename, probename, probename, probename, probename, probename, probename, probename, probename, probename, probename, probename, probename, probename, probename, probename, probename, probename, probename, probename, probename, probename, probename, probename, probename, probename, probename, probename, probename, probename, probename, probename, probename, probename, probename, probename, probename, probename, probename, probename, probename, probename, probename, probename);'; done; echo '}'; } >many.d
| erltrace -x strsize=64k -qs many.d
$ bash many.sh
!~ line 1: a record of this clause may take 229[0-9]{6} bytes, with 3500 strings of up to strsize=65536; bufsize=4194304 is less
? 1
