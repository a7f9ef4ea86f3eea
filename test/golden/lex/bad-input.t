# bytes that are no D
$ printf 'BEGIN { x = 1 \001; }' > t.d; erltrace -e -xerrtags -s t.d
!~ \[D_SYNTAX\] line 1: 
? 1
$ printf 'BEGIN { x = \xff\xfe; }' > t.d; erltrace -e -xerrtags -s t.d
!~ \[D_SYNTAX\] line 1: 
? 1
$ printf 'BEGIN { x\000= 1; }' > t.d; erltrace -e -xerrtags -s t.d
!~ \[D_SYNTAX\] line 1: 
? 1
# cut off in the middle
$ printf 'BEGIN {\n trace(1' > t.d; erltrace -e -xerrtags -s t.d
!~ \[D_SYNTAX\] line 2: .*end of input
? 1
# too deep
$ erltrace -e -xerrtags -n "BEGIN { x = $(printf '(%.0s' $(seq 5000)) 1; }" 2>&1 | grep -o '\[D_SYNTAX\].*nest.*'
~ \[D_SYNTAX\] .*nested too deeply
# a name too long
$ erltrace -e -xerrtags -n "BEGIN { $(printf 'x%.0s' $(seq 2000)) = 1; }" 2>&1 | grep -o '\[D_SYNTAX\]'
> [D_SYNTAX]
