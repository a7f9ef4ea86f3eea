# no such member
$ erltrace -e -xerrtags -n 'struct s { int a; } g; BEGIN { trace(g.b); }'
!~ \[D_TYPE_MEMBER\]
? 1
$ erltrace -e -xerrtags -n 'struct s { int a; }; BEGIN { trace(((struct s *)8)->b); }'
!~ \[D_TYPE_MEMBER\]
? 1
# the most similar one is named, if there is one
$ erltrace -e -n 'struct s { int mailbox, memory; } g; BEGIN { trace(g.mailbx); }'
!~ 'struct s' has no member 'mailbx': did you mean 'mailbox'\?
? 1
$ erltrace -e -n 'BEGIN { trace(curpsinfo->pr_psarg); }'
!~ has no member 'pr_psarg': did you mean 'pr_psargs'\?
? 1
