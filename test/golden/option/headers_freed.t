# headers of records: the command frees their names (the sanitizers see it)
< r.hrl
| -record(r, {a}).

$ erltrace -I r.hrl -I ./r.hrl -qn 'BEGIN { trace("fine"); exit(0); }'
> fine
