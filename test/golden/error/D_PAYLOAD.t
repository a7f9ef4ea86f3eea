# contents are not to be shown: payload=off
$ erltrace -e -xerrtags -xpayload=off -n 'BEGIN { tracemem(0x1000, 8); }'
!~ \[D_PAYLOAD\] .*tracemem\(\) shows contents of messages, arguments or memory: option payload is off
? 1
$ erltrace -e -Z -xerrtags -xpayload=off -n 'erlang*:::process-exit { trace(args[1]); }'
!~ \[D_PAYLOAD\] .*arg1 of erlang\*:::process-exit shows contents: option payload is off
? 1
