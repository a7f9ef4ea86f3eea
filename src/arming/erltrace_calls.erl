%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc Which way the function probes of a script go: `traced', by the VM's tracing, or `fast', by
%% hooks inside the VM (erltrace_fastcalls). The script's option `calls' says what is wanted, the
%% node's settings what is permitted. It is decided once, at go.
-module(erltrace_calls).
-export([choose/1, is_fast/1, way/1, note/3, about/4, none/0, line/1, json/2]).
-export_type([calls/0, about/0]).

%% functions: how many go the way `way'. counted: how many have no events, since the VM counts their
%% calls. traced: those that the fast way cannot serve, by reason, with one of them as an example.
%% why: what speaks against the fast way, if that is known. warned: the user has been told that.
%% `none': the script has no function probes.
-type about() :: #{way := fast | traced | none, functions := non_neg_integer(),
                   counted := non_neg_integer(),
                   traced := [{Why :: binary(), N :: pos_integer(), Example :: mfa()}],
                   why := binary(), warned := boolean()}.

-record(calls, {way = none :: fast | traced | none,
                traced = [] :: [{Why :: binary(), N :: pos_integer(), Example :: mfa()}],
                why = <<>> :: binary(),
                warned = false :: boolean()}).
-opaque calls() :: #calls{}.

%% @doc Decide, and tell the library, before it says what is to be armed. Whoever asked for the fast
%% way and does not get it is told why.
-spec choose(reference()) -> calls().
choose(Nif) ->
    case erltrace_nif:calls(Nif) of
        Option when is_atom(Option), Option =/= none -> choose(Nif, way(Option));
        _ -> #calls{}
    end.

choose(Nif, fast) ->
    _ = erltrace_nif:set_calls(Nif, fast),
    #calls{way = fast};
choose(Nif, {traced, Why}) ->
    not_fast(Nif, Why);
choose(_, traced) ->
    #calls{way = traced, why = forbidden()}.

not_fast(Nif, Why) ->
    _ = erltrace_nif:warn(Nif, ["function probes are traced, not fast: ", Why]),
    #calls{way = traced, why = Why, warned = true}.

-spec is_fast(calls()) -> boolean().
is_fast(#calls{way = Way}) -> Way =:= fast.

%% @doc The way for a value of the option `calls'. `{traced, Why}': the fast way was asked for, by
%% the option or by the node's setting, and is not possible.
-spec way(auto | fast | traced) -> fast | traced | {traced, Why :: binary()}.
way(traced) ->
    traced;
way(auto) ->
    case lists:member(true, erltrace_app:setting(fast_calls)) of
        true -> way(fast);
        false -> traced
    end;
way(fast) ->
    case forbidden() of
        <<>> ->
            case erltrace_find:known(fast) of
                ok -> fast;
                {refused, Why} -> {traced, Why}
            end;
        Why ->
            {traced, Why}
    end.

%% Why the node's settings forbid the fast way; <<>>: they do not.
forbidden() ->
    case {[V || V <- erltrace_app:setting(fast_calls), V =/= true],
          lists:member(false, erltrace_app:setting(vm_internals))} of
        {[], false} -> <<>>;
        {[], true} -> <<"the node's setting vm_internals is false">>;
        {[false | _], _} -> <<"the node's setting fast_calls is false">>;
        {[Other | _], _} ->
            text("the node's setting fast_calls is ~0tP, which is neither true nor false",
                 [Other, 10])
    end.

%% @doc Note what the library says of it: `{traced, M, F, A, Why}', this function cannot go the fast
%% way; `hooks_taken', none can.
-spec note(reference(), erltrace_needs:needs(), calls()) -> calls().
note(Nif, Needs, #calls{way = fast} = Calls) ->
    case erltrace_needs:has(hooks_taken, Needs) of
        true -> not_fast(Nif, <<"somebody else in this node has the hooks">>);
        false -> lists:foldl(fun one_more/2, Calls, Needs)
    end;
note(_, _, Calls) ->
    Calls.

one_more({traced, M, F, A, Why}, #calls{traced = Traced} = Calls) ->
    Calls#calls{traced = one_more(Why, {M, F, A}, Traced)};
one_more(_, Calls) ->
    Calls.

one_more(Why, MFA, Traced) ->
    case lists:keyfind(Why, 1, Traced) of
        {_, N, Example} -> lists:keyreplace(Why, 1, Traced, {Why, N + 1, Example});
        false -> Traced ++ [{Why, 1, MFA}]
    end.

%% @doc For erltrace:status/1. Fast, Traced, Counted: how many functions are armed for each way.
-spec about(calls(), Fast, Traced, Counted) -> about() when
    Fast :: non_neg_integer(), Traced :: non_neg_integer(), Counted :: non_neg_integer().
about(#calls{way = none}, _, _, _) ->
    none();
about(#calls{way = traced, why = Why, warned = Warned}, _, N, Counted) ->
    (none())#{way := traced, functions := N, counted := Counted, why := Why, warned := Warned};
about(#calls{way = fast, traced = Traced}, N, _, Counted) ->
    (none())#{way := fast, functions := N, counted := Counted, traced := Traced}.

%% @doc The same of a script that has no function probes, or does not run yet.
-spec none() -> about().
none() ->
    #{way => none, functions => 0, counted => 0, traced => [], why => <<>>, warned => false}.

%% @doc For -v.
-spec line(about()) -> binary() | none.
line(#{way := none}) ->
    none;
line(#{functions := 0, counted := N, traced := []}) when N > 0 ->
    text("calls: counted by the VM, ~ts", [functions(N)]);
line(#{way := traced, why := Why, warned := Warned}) when Why =:= <<>>; Warned ->
    <<"calls: traced">>;
line(#{way := traced, why := Why}) ->
    text("calls: traced (~ts)", [Why]);
line(#{way := fast, functions := N, traced := Traced, counted := Counted}) ->
    text("calls: fast, ~ts~ts~ts", [
        functions(N),
        traced(Traced),
        [["; counted by the VM: ", integer_to_list(Counted)] || Counted > 0]
    ]).

functions(N) -> io_lib:format("~b function~ts", [N, [$s || N =/= 1]]).

traced([]) ->
    "";
traced(Traced) ->
    Each = [io_lib:format("~ts~ts: ~ts", [function(MFA), more(N - 1), Why]) ||
               {Why, N, MFA} <- Traced],
    io_lib:format("; traced: ~b (~ts)",
                  [lists:sum([N || {_, N, _} <- Traced]), lists:join("; ", Each)]).

more(0) -> "";
more(N) -> io_lib:format(" and ~b more", [N]).

function({M, F, A}) -> io_lib:format("~tw:~tw/~b", [M, F, A]).

%% @doc The object `calls' of doc/json.md, as a line.
-spec json(node(), about()) -> binary().
json(Node, #{way := Way, functions := N, counted := Counted, traced := Traced, why := Why}) ->
    Each = [
        io_lib:format(
            "{\"why\":~ts,\"functions\":~b,\"example\":~ts}",
            [erltrace_json:string(W), K, erltrace_json:string(function(MFA))]
        )
     || {W, K, MFA} <- Traced
    ],
    text(
        "{\"type\":\"calls\",\"node\":~ts,\"way\":~ts,\"functions\":~b,\"counted\":~b,"
        "\"traced\":[~ts],\"why\":~ts}~n",
        [
            erltrace_json:string(atom_to_binary(Node)),
            erltrace_json:string(atom_to_binary(Way)),
            N,
            Counted,
            lists:join($,, Each),
            erltrace_json:string(Why)
        ]
    ).

text(Format, Args) ->
    unicode:characters_to_binary(io_lib:format(Format, Args)).
