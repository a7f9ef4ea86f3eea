# --json: a compile error is an object too, beside the text on stderr
$ erltrace --json -n 'BEGIN { trace("\q", nosuch); }' 2>/dev/null
~ ^\{"type":"error","tag":"D_[A-Z_]+","file":"","line":[01],"column":[0-9]+,"message":".*","doing":"invalid probe specifier BEGIN \{ trace\(\\"\\\\q\\", nosuch\); \}"\}$
? 1
# any bytes of the script: still JSON
$ erltrace --json -n $'BEGIN { \xff\xc3\xa4 }' 2>/dev/null | grep -oE 'BEGIN [^"]*'
> BEGIN { �ä }
# an option that is not there
$ erltrace --json -x nosuch=1 -n BEGIN 2>/dev/null
~ ^\{"type":"error","tag":"ET_OPTION",.*"doing":"failed to set -x nosuch"\}$
? 1
# in a script file: its name and the line
< e.d
| BEGIN
| { trace(nosuch); }
$ erltrace --json -s e.d
~ ^\{"type":"error","tag":"D_IDENT_UNDEF","file":"e.d","line":2,"column":9,"message":".*","doing":"failed to compile script e.d"\}$
!~ ^erltrace: failed to compile script e.d: line 2: 
? 1
