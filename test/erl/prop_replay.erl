%% SPDX-License-Identifier: Apache-2.0
%% Terms of a recording: a script that looks into random terms prints the same in the node that has
%% them and over a file of events with their texts. Terms of the VM and those of a file have
%% accessors of their own (c_src/beam/term, c_src/replay); the rules are shared (c_src/term).
-module(prop_replay).
-include_lib("proper/include/proper.hrl").
-import(prop_match, [pick/1, one_of/1]).
-export([prop_replay/0, traced/3]).

-define(QUESTIONS, 12).
-define(WIDE, "\x{3a9}"). % by such a text a file shows that its node was started with +pc unicode

traced(_, _, _) -> ok.

%% ---- terms -----------------------------------------------------------------------------------

a_term() ->
    ?LET(N, integer(0, 3), frequency([{3, prop_match:term_of(N)}, {2, prop_print:term_of(N)},
                                      {1, a_large(N)}])).

%% What is more than there is room for; what is a text only as far as that goes.
a_large(N) ->
    ?LET({T, Size, Kind}, {prop_match:term_of(N), integer(1, 200), integer(1, 6)},
         case Kind of
             1 -> lists:duplicate(Size, T);
             2 -> binary:copy(<<"text ">>, Size);
             3 -> <<(binary:copy(<<"a">>, Size))/binary, 0>>;
             4 -> lists:duplicate(Size, $a) ++ [T];
             5 -> lists:foldl(fun(_, E) -> [E] end, T, lists:seq(1, min(Size, 60)));
             6 -> [binary:copy(<<"\x{e9}"/utf8>>, Size), lists:duplicate(Size, 16#3a9) | T]
         end).

%% ---- questions -------------------------------------------------------------------------------

%% {Predicate, Format, Expression}
question(A, B) ->
    one_of([fun() -> {Format, Text, _} = prop_looks:question(A, B), {"", Format, Text} end,
            fun() -> {"", "%s", part(A)} end,
            fun() -> {"", "%s", ["erltext(", part(A), ")"]} end,
            fun() -> {"", "%s", ["erltext(", pick(["erlarg(1)", "erlargs"]), ")"]} end,
            fun() -> {"", "%d", [part(A), " == ", part(A)]} end,
            fun() -> {"", "%s", pick(["erlargs", "erlarg(1)", "erlhd(erltl(erlargs))"])} end,
            fun() -> bound(A) end, fun() -> bound(A) end]).

part(A) ->
    {Text, _} = prop_looks:path("erlarg(0)", A, rand:uniform(3) - 1),
    Text.

%% What the variables of a pattern are.
bound(A) ->
    P = prop_match:pattern_of(A, rand:uniform(1 bsl 30)),
    try prop_match:want(A, P) of
        {match, [_ | _] = Vars} ->
            {Name, _} = pick(Vars),
            {["/erlmatch(erlarg(0), ", prop_looks:string(P), ")/"], "%s", ["this->", Name]};
        _ -> {"", "%s", part(A)}
    catch error:illegal_bin_pattern -> {"", "%s", part(A)}
    end.

script(Questions, Size) ->
    ["#pragma D option quiet\n#pragma D option strsize=", integer_to_list(Size), "\n",
     [["erlang*:prop_replay:traced:function-entry ", Predicate, " { printf(\"", integer_to_list(I), " ",
       Format, "\\n\", ", Text, "); }\n"] || {I, {Predicate, Format, Text}} <- Questions]].

%% ---- in the node, and from a file ------------------------------------------------------------

in_node(Script, A, B) ->
    case erltrace:script(Script) of
        {ok, H} ->
            ok = traced(A, B, ?WIDE),
            {ok, Out} = erltrace:output(H),
            ok = erltrace:close(H),
            answers(Out);
        Error -> Error
    end.

replayed(Script, Terms) ->
    Dir = filename:join(os:getenv("TMPDIR", "/tmp"), "erltrace-replay-" ++ os:getpid()),
    File = fun(Name) -> filename:join(Dir, Name) end,
    ok = filelib:ensure_dir(File("x")),
    ok = file:write_file(File("x.d"), unicode:characters_to_binary(Script)),
    ok = file:write_file(File("x.events"),
                         ["{\"erltrace\":\"events\",\"version\":1,\"script\":\"x.d\"}\n"
                          "{\"at\":1,\"probe\":\"erlang:prop_replay:traced/3:function-entry\",\"erlargs\":[",
                          lists:join(",", [json(printed(T)) || T <- Terms]), "]}\n"]),
    Bin = filename:join(os:getenv("BIN", "bin"), "erltrace"),
    Said = os:cmd(Bin ++ " test --update " ++ File("x.events") ++ " 2>&1"),
    Got = file:read_file(File("x.expected")),
    ok = file:del_dir_r(Dir),
    case Got of
        {ok, Out} -> answers(Out);
        _ -> {error, Said}
    end.

printed(T) -> element(1, erltrace_nif:print(T, 4096, false)).

%% From OTP 27 on 0.0 =:= -0.0 is false; a file does not say what release it comes from.
has_zero(T) -> list_to_integer(erlang:system_info(otp_release)) >= 27 andalso is_zero(T).

is_zero([H | T]) -> is_zero(H) orelse is_zero(T);
is_zero(T) when is_tuple(T) -> is_zero(tuple_to_list(T));
is_zero(T) when is_map(T) -> is_zero(maps:to_list(T));
is_zero(T) -> is_float(T) andalso T == 0.

is_long(T) -> byte_size(printed(T)) > 4090.

json(Text) -> [$", [escape(C) || <<C>> <= Text], $"].

escape(C) when C =:= $"; C =:= $\\ -> [$\\, C];
escape(C) when C < $\s -> io_lib:format("\\u~4.16.0b", [C]);
escape(C) -> C.

%% Texts may have newlines: all of it counts, in the order of the questions. What is behind a fault
%% is not printed.
answers(Out) ->
    iolist_to_binary([[L, $\n] || L <- binary:split(iolist_to_binary(Out), <<"\n">>, [global]),
                                  re:run(L, "^(erltrace: |x\\.d|error on|exit status)") =:= nomatch, L =/= <<>>]).

%% ---- the property ----------------------------------------------------------------------------

prop_replay() ->
    ok = erltrace:close(element(2, {ok, _} = erltrace:open())), % finds the layout of terms
    ?FORALL({A, B, Size, Seed}, {a_term(), a_term(), oneof([integer(8, 100), 4096]), pos_integer()},
            is_long(A) orelse is_long(B) orelse has_zero([A | B]) orelse begin
                _ = rand:seed(exsss, Seed),
                Questions = lists:enumerate([question(A, B) || _ <- lists:seq(1, ?QUESTIONS)]),
                Script = script(Questions, Size),
                try is_same(Script, A, B)
                catch Class:Reason:Stack -> differs(A, B, Script, {Class, Reason}, Stack)
                end
            end).

is_same(Script, A, B) ->
    case in_node(Script, A, B) of
        {error, {dtrace, <<"D_OP_INCOMPAT">>, _, _, <<"the string has ", _/binary>>}} -> true; % > strsize
        {error, _} = E -> prop_looks:is_refused(E) orelse differs(A, B, Script, E, none);
        Want ->
            case replayed(Script, [A, B, ?WIDE]) of
                Want -> true;
                {error, Said} = E -> is_limit(Said) orelse differs(A, B, Script, Want, E);
                Got -> differs(A, B, Script, Want, Got)
            end
    end.

%% What nests deeper is not read (c_src/prog/pattern_lex.h).
is_limit(Said) -> string:find(Said, "nested deeper than 32") =/= nomatch.

differs(A, B, Script, Want, Got) ->
    ?WHENFAIL(io:format("~0tp~n~0tp~n~ts~nin the node ~0tp~nreplayed    ~0tp~n",
                        [A, B, unicode:characters_to_binary(Script), Want, Got]), false).
