# words that are reserved and have no rule
$ for w in break case continue counter default do for goto import return switch while; do erltrace -e -xerrtags -n "BEGIN { $w = 1; }" 2>&1 | grep -c '\[D_SYNTAX\]'; done | sort | uniq -c | tr -s ' '
>  12 1
# and no loops
$ erltrace -e -xerrtags -n 'BEGIN { for (i = 0; i < 3; i++) ; }'
!~ \[D_SYNTAX\]
? 1
