# bytes that are no script: an error with tag and line, never a crash
$ head -c 4096 /dev/zero > zero.d; erltrace -e -xerrtags -s zero.d
!~ ^erltrace: failed to compile script zero.d: \[D_[A-Z_]+\] line 1: 
? 1
$ printf 'BEGIN { trace(1); }\n\000BEGIN { }\n' > nul.d; erltrace -e -xerrtags -s nul.d
!~ \[D_SYNTAX\] line 2: 
? 1
$ printf '\377\376\000BEGIN' > utf16.d; erltrace -e -xerrtags -s utf16.d
!~ \[D_SYNTAX\] line 1: 
? 1
$ erltrace -e -xerrtags -s "$(command -v sh)" 2>&1 | grep -cE '\[D_[A-Z_]+\] line [0-9]+: '
> 1
# invalid UTF-8 in a string is data
$ printf 'BEGIN { printf("%%s\\n", "\303\050"); exit(0); }' > bytes.d; erltrace -qs bytes.d | od -An -tx1
>  c3 28 0a 0a
# 100 MB
$ truncate -s 100M huge.d; erltrace -e -xerrtags -s huge.d
!~ ^erltrace: failed to compile script huge.d: \[D_[A-Z_]+\] .*(too large|limit)
? 1
# deep: parentheses, blocks, unary operators, ?:, [] and types
$ r() { printf "%.0s$2" $(seq $1); }; for s in "$(r 100000 '(')" "$(r 100000 '{')" "$(r 100000 '-')1" "x = $(r 100000 '1?')" "a$(r 100000 '[1')" "if (1) $(r 50000 'if (1) ')" "(int $(r 100000 '*'))1" "sizeof $(r 100000 'sizeof ')1"; do echo "BEGIN { $s; }" > deep.d; erltrace -e -xerrtags -s deep.d >/dev/null 2>err; echo "$? $(grep -cE '\[D_[A-Z_]+\] line 1: ' err)"; done | sort | uniq -c | tr -s ' '
>  8 1 1
# long: a name, a string, a number, a list of probes
$ r() { printf "%.0s$2" $(seq $1); }; for s in "$(r 100000 x) = 1" "x = $(r 1000 9)" "x = 0x$(r 1000 f)"; do echo "BEGIN { $s; }" > long.d; erltrace -e -xerrtags -s long.d >/dev/null 2>err; echo "$? $(grep -cE '\[D_[A-Z_]+\] line 1: ' err)"; done
> 1 1
> 1 1
> 1 1
# many errors: the first is told
$ for i in $(seq 100); do echo "BEGIN { nosuch$i; }"; done > many.d; erltrace -e -s many.d 2>&1 | wc -l
> 1
# a script that never ends: cut anywhere
$ s='BEGIN /1 == 1/ { x["a", 1] = 2; @q[probename] = lquantize(x["a", 1], 0, 10, 1); printf("%d\n", 1); exit(0); }'; for i in $(seq 1 $((${#s} - 1))); do printf '%s' "${s:0:$i}" > cut.d; erltrace -e -q -s cut.d 2>/dev/null; echo $?; done | sort | uniq -c | tr -s ' '
>  108 1
