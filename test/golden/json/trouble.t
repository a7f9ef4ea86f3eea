# a fault
$ erltrace --json -qn 'BEGIN { trace(*(int *)1); } BEGIN { exit(0); }' | head -1 | sed -E 's/"(cpu|timestamp|walltimestamp|pc)":[0-9]+,?//g; s/pc [0-9]+/pc N/'
> {"type":"error","provider":"dtrace","module":"","function":"","name":"BEGIN","id":1,"fault":"invalid address","address":1,"file":"","line":1,"message":"error on enabled probe ID 1 (ID 1: dtrace:::BEGIN): invalid address (0x1) in action #1 at BPF pc N"}
# an action that could not be performed
$ erltrace --json -qn 'BEGIN { setopt("nosuch"); exit(0); }' | grep -c '"type":"error".*"fault":"library-level fault".*nosuch'
> 1
# drops
$ erltrace --json -qn 'BEGIN { speculation(); speculation(); exit(0); }' | grep '"drop"'
> {"type":"drop","kind":"SPECUNAVAIL","cpu":null,"drops":1,"total":1,"message":"1 failed speculation (no speculative buffer available): -x nspec=N makes more"}
# a script that does not compile: tag, file, line, column
< bad.d
| BEGIN
| {
| 	trace(nosuch);
| }
$ erltrace --json -s bad.d 2>/dev/null | sed -E 's/"message":"[^"]*nosuch[^"]*"/"message":"M"/'
> {"type":"error","tag":"D_IDENT_UNDEF","file":"bad.d","line":3,"column":8,"message":"M","doing":"failed to compile script bad.d"}
$ erltrace --json -n 'BEGIN { trace(nosuch); }' 2>/dev/null | grep -oE '"(tag|file|line|column)":[^,]*'
> "tag":"D_IDENT_UNDEF"
> "file":""
> "line":1
> "column":15
$ erltrace --json -qxnosuch -n 'BEGIN { }' 2>/dev/null | grep -o '"tag":"ET_OPTION"'
> "tag":"ET_OPTION"
$ erltrace --json -n 'BEGIN { trace(nosuch); }' >/dev/null 2>&1
? 1
