# a pattern that Erlang would not read either, with its place
$ erltrace -e -xerrtags -n 'BEGIN /erlmatch(erlmsg, "{ok, ]}")/ { }'
!~ \[D_PATTERN\] in the pattern "\{ok, \]\}", at '\]\}': 
? 1
$ erltrace -e -xerrtags -n 'BEGIN /erlmatch(erlmsg, "{ok, X")/ { }'
!~ \[D_PATTERN\] at the end of the pattern "\{ok, X": 
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(erlget("[", erlmsg)); }'
!~ \[D_PATTERN\]
? 1
