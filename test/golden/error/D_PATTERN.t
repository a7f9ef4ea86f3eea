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
# = is for records, := for maps
$ erltrace -e -xerrtags -n 'BEGIN /erlmatch(erlmsg, "#{id = Id}")/ { }'
!~ \[D_PATTERN\] in the pattern .*, at '= Id}': a pattern of a map has := between key and value, not =$
? 1
# one key, not a path
$ erltrace -e -xerrtags -n 'BEGIN { trace(erlget("user.id", erlmsg)); }'
!~ \[D_PROTO_ARG\] argument 1 of erlget\(\) is one key: write erlget\("id", erlget\("user", ..\)\)$
? 1
$ erltrace -e -xerrtags -n 'BEGIN { trace(erlfield("order.staus", erlmsg)); }'
!~ \[D_PATTERN\] erlfield\("order.staus"\): the fields of the record #order are not known: inside a node
? 1
# an atom and a character, though those of ets:match() mean something else
$ erltrace -e -n 'BEGIN /erlmatch(erlmsg, "{'"'_'"', $1}")/ { }'
!~ matched 1 probe
