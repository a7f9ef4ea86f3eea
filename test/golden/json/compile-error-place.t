# an error of compiling has its file and line in JSON, though the text does not repeat them
< bad.d
| BEGIN { }
| END { trace(nosuch); }
$ erltrace --json -q -s bad.d
!~ ^erltrace: failed to compile script bad.d: line 2: .*nosuch
~ "file":"bad.d","line":2,"column":13,
? 1
$ erltrace --json -qn 'BEGIN { trace(nosuch); }'
!~ ^erltrace: invalid probe specifier BEGIN \{ trace\(nosuch\); \}: [^l].*nosuch
~ "file":"","line":1,"column":15,
? 1
# of several lines the text says which
$ erltrace -qn "$(printf 'BEGIN\n{ trace(nosuch); }')"
!~ ^erltrace: invalid probe specifier BEGIN$
!~ line 2: .*nosuch
? 1
