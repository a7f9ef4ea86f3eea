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
# of a long pattern what is around the place, and the reason always
< long.d
| BEGIN /erlmatch(erlmsg, "{aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb, {ok, ]}, cccccccccccccccccccccccccccccccccccccccccccccccccc, dddddddddddddddd}")/ { }
$ erltrace -e -xerrtags -s long.d
! erltrace: failed to compile script long.d: [D_PATTERN] line 1: in the pattern "..aa, bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb, {ok, ]}, cccccccccccccccccccccccccccc..", at ']}, cccccccccccccccccccc': a term cannot begin with ]
? 1
$ erltrace -e -xerrtags -n "BEGIN /erlmatch(erlmsg, \"{$(printf 'zo\303\253, %.0s' $(seq 1000))\")/ { }"
!~ \[D_PATTERN\] at the end of the pattern "\.\.[^"]*zoë, ": the pattern ends where a term is expected$
? 1
# a text in a binary has no type but utf8, as in Erlang
$ erltrace -e -xerrtags -n 'BEGIN /erlmatch(erlmsg, "<<\"a\"/big-signed>>")/ { }'
!~ \[D_PATTERN\] .*: a text in a binary has no size, and no type but utf8$
? 1
