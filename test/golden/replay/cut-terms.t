# Terms of a file as a node prints them, also where strsize is shorter than what was recorded.
< cut.d
| #pragma D option quiet
| #pragma D option strsize=24
| erlang*:m::function-entry { printf("%s\n", erlarg(0)); }
| erlang*:m::function-entry { printf("%s\n", erlargs); }
< cut.events
| {"erltrace":"events","version":1,"script":"cut.d"}
| # what is printable as far as there is room is a text
| {"at":1,"probe":"erlang:m:f/1:function-entry","erlargs":["<<97,97,97,97,97,97,97,97,97,97,97,97,97,97,97,97,97,97,97,97,97,97,97,97,0>>"]}
| {"at":1,"probe":"erlang:m:f/1:function-entry","erlargs":["[97,97,97,97,97,97,97,97,97,97,97,97,97,97,97,97,97,97,97,97,97,97,97,97,0]"]}
| # no character is cut in two
| {"at":1,"probe":"erlang:m:f/1:function-entry","erlargs":["<<\"ééééééééééééééé\"/utf8>>"]}
| # a text that was cut before
| {"at":1,"probe":"erlang:m:f/1:function-entry","erlargs":["<<\"eéééééééééééééééé..."]}
$ erltrace test -v --update cut.d
> <<"aaaaaaaaaaaaaaaaaa...
> [<<"aaaaaaaaaaaaaaaaa...
> "aaaaaaaaaaaaaaaaaaaa...
> ["aaaaaaaaaaaaaaaaaaa...
> <<"ééééééééé...
> [<<"éééééééé...
> <<"eéééééééé...
> [<<"eéééééééé...
>
> ./cut.events: written
> 1 passed, 0 failed

# a number of a binary is cut with dots, as others are
< number.d
| #pragma D option quiet
| #pragma D option strsize=16
| erlang*:m::function-entry /erlmatch(erlarg(0), "<<N:64>>")/ { printf("%s\n", this->N); }
< number.events
| {"erltrace":"events","version":1,"script":"number.d"}
| {"at":1,"probe":"erlang:m:f/1:function-entry","erlargs":["<<255,255,255,255,255,255,255,255>>"]}
$ erltrace test -v --update number.d
> 1844674407370...
>
> ./number.events: written
> 1 passed, 0 failed

# lists of characters above 255 are texts if a term of the file shows that its node prints them so
< wide.d
| #pragma D option quiet
| erlang*:m::function-entry { printf("%s\n", erlhd(erlarg(0))); }
< wide.events
| {"erltrace":"events","version":1,"script":"wide.d"}
| {"at":1,"probe":"erlang:m:f/1:function-entry","erlargs":["[\"Ωμέγα\",1]"]}
| {"at":1,"probe":"erlang:m:f/1:function-entry","erlargs":["[[937],1]"]}
< narrow.events
| {"erltrace":"events","version":1,"script":"wide.d"}
| {"at":1,"probe":"erlang:m:f/1:function-entry","erlargs":["[[937],1]"]}
$ erltrace test -v --update wide.events narrow.events
> [937]
>
> narrow.events: written
> "Ωμέγα"
> "Ω"
>
> wide.events: written
> 2 passed, 0 failed

# a map in a key has no other keys, however deep it is
< keys.d
| #pragma D option quiet
| erlang*:m::function-entry { printf("%d", erlmatch(erlarg(0), "#{{#{a => 1}} := _}")); }
| erlang*:m::function-entry { printf(" %s\n", erltype(erlget("{#{a => 1}}", erlarg(0)))); }
< keys.events
| {"erltrace":"events","version":1,"script":"keys.d"}
| {"at":1,"probe":"erlang:m:f/1:function-entry","erlargs":["#{{#{a => 1,b => 2}} => x}"]}
| {"at":2,"probe":"erlang:m:f/1:function-entry","erlargs":["#{{#{a => 1}} => x}"]}
$ erltrace test -v --update keys.d
> 0 none
> 1 atom
>
> ./keys.events: written
> 1 passed, 0 failed
