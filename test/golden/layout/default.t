# a header at the first record, a row a record: CPU, probe number, function:name, data
$ erltrace -n 'BEGIN { trace(1); exit(0); }'
! erltrace: description 'BEGIN ' matched 1 probe
> CPU     ID                    FUNCTION:NAME
~ ^[ 0-9]{3}      1                           :BEGIN           1$
>
# every clause at a probe is a record of its own; END too
$ erltrace -n 'BEGIN { trace("one"); } BEGIN { exit(0); } END { trace("three"); }' 2>/dev/null | cut -c5- | sed 's/$/|/'
>     ID                    FUNCTION:NAME|
>      1                           :BEGIN   one                              |
>      1                           :BEGIN |
>      2                             :END   three                            |
> |
# no record, no header: aggregations alone
$ erltrace -n 'BEGIN { @ = count(); }' -c true 2>/dev/null
>
>                 1
# the default action is a row without data
$ erltrace -n BEGIN -n 'BEGIN { exit(0); }' 2>/dev/null | cut -c5- | sed 's/$/|/'
>     ID                    FUNCTION:NAME|
>      1                           :BEGIN |
>      1                           :BEGIN |
> |
# a printf's newline, then the row's own
$ erltrace -n 'BEGIN { printf("hello\n"); printf("there"); exit(0); }' 2>/dev/null | cut -c5- | sed 's/$/|/'
>     ID                    FUNCTION:NAME|
>      1                           :BEGIN hello|
> e|
> |
# a long name pushes its row
$ erltrace -n 'profile:::tick-1000000000000000000ns' -n 'BEGIN { exit(0); }' 2>/dev/null | wc -l
> 3
