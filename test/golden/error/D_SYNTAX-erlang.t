# terms and patterns of Erlang are strings
$ erltrace -e -xerrtags -n 'BEGIN /erlmatch(erlarg(0), {fetch, Opts})/ { }'
!~ \[D_SYNTAX\] syntax error near "\{": a term or a pattern of Erlang is written as a string, as in erlmatch\(T, "\{ok, X\}"\)$
? 1
$ erltrace -e -xerrtags -n 'BEGIN /erlarg(0) == [a]/ { }'
!~ \[D_SYNTAX\] syntax error near "\[": a term or a pattern of Erlang is written as a string
? 1
$ erltrace -e -xerrtags -n 'BEGIN /erlmatch(erlarg(0), #{id := Id})/ { }'
!~ \[D_SYNTAX\] invalid character '#': a term or a pattern of Erlang is written as a string
? 1
$ erltrace -e -xerrtags -n 'BEGIN /erlarg(0) == <<"en">>/ { }'
!~ \[D_SYNTAX\] .*a binary is compared with the string of its characters, as in T == "en"
? 1
# a brace may still be one that is missing
$ erltrace -e -xerrtags -n 'BEGIN { x = 1; END /x/ { }'
!~ \[D_SYNTAX\] .*is a '}' missing in the clause that starts at line 1\?$
? 1
# operators of Erlang that D does not have
$ erltrace -e -xerrtags -n 'BEGIN /erlarg(0) =:= "a"/ { }'
!~ \[D_SYNTAX\] .*: expected an expression; Erlang's =:= and =/= are written == and != here$
? 1
$ erltrace -e -xerrtags -n 'BEGIN { x = 1 =/= 2; }'
!~ \[D_SYNTAX\] .*: expected an expression; Erlang's =:= and =/= are written == and != here$
? 1
