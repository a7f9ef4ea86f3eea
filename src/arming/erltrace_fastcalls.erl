%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc The fast way to function probes (c_src/core/core.h, c_src/beam/fast/fast_calls.c): calls
%% come from the JIT's code straight to the library, no process is traced.
%%
%% A function is armed by the VM's own breakpoint of call_count, paused, so that the VM does not
%% count. From OTP 27 on a handle has a trace session for that. Before, a function has one counter
%% in the whole node: a function that is counted already has its breakpoint, and is left as it is;
%% one that somebody else begins to count meanwhile is left to them at the end. What our handles
%% have set is kept by the library, and changed under the lock of erltrace_vm.
%%
%% Before the first one, once for each library in a node, erltrace_find has what the fast way needs
%% searched for (c_src/beam/fast/fast_find.c) and tested on functions of this module. If anything is
%% not as known, calls are traced.
-module(erltrace_fastcalls).
-export([arm/3, add/2, disarm/1, forget/1, renew/1, is_armed/2, can_be_armed/2, count/1,
         breakpoints/0, ours/0]).
-export([observe/0, self_test/0]). % for erltrace_find
-export([observe_code/0]). % for tests
-export([one/1, timed/1, body/1, tail/1, raise/1, grow/1]). % what is looked at, and tested
-export_type([fast/0]).
-compile(nowarn_deprecated_catch). % the old handlers are looked for, too
-dialyzer([{nowarn_function, [return/0, cases/0, raise/1, catch_/2]}, no_missing_calls]).

-record(fast, {number :: pos_integer() | alone,
               owner :: pid(),
               session :: term(),                     % from OTP 27 on
               patterns = #{} :: erltrace_patterns:patterns(),
               unseen = [] :: [mfa()]}).              % renew/1 has yet to look at
-opaque fast() :: #fast{}.

%% Kept by the library: ours, what our handles have set; handles, the number of each with what it
%% has asked for; arming, what is being set, and may not be paused yet; paused, what counters stood
%% at when they were, if not at 0.
-define(KEPT, fast).
-define(NOTHING, #{ours => #{}, handles => [], arming => #{}, paused => #{}}).
-define(MANY, 2000).
-define(AT_ONCE, 50).

%% ---- the search ------------------------------------------------------------------------------

%% @doc What the library observes, in the order that c_src/beam/fast/fast_find.h has; or the hooks
%% of another library of ours.
-spec observe() -> concluded | erltrace_find:outcome().
observe() ->
    case erltrace_nif:find(fast, adopt) of
        ok -> concluded;
        undefined -> observe_code();
        Refused -> Refused
    end.

%% @private
-spec observe_code() -> erltrace_find:outcome().
observe_code() ->
    erltrace_find:all_ok([fun() -> {{R}} = two(code), R end,
                          fun catches/0,
                          fun() -> erltrace_find:in_process(fun sensitive/0, []) end,
                          fun return/0]).

%% Calls that leave nothing on the stack but where they return to.
two(Step) -> X = one(Step), {X}.

-spec one(term()) -> {term()}.
one(Step) -> Y = erltrace_nif:find(fast, Step), {Y}.

%% Under one handler more each time.
catches() ->
    A = erltrace_nif:find(fast, {catches, 0}),
    B = (catch catches_1()),
    erltrace_find:all_ok([fun() -> R end || R <- [A | B]]).

catches_1() ->
    A = erltrace_nif:find(fast, {catches, 1}),
    B = (catch erltrace_nif:find(fast, {catches, 2})),
    [A, B].

sensitive() ->
    A = erltrace_nif:find(fast, {sensitive, 0}),
    process_flag(sensitive, true),
    B = erltrace_nif:find(fast, {sensitive, 1}),
    erltrace_find:all_ok([fun() -> R end || R <- [A, B]]).

%% A process that the VM times, as for call_time.
return() ->
    {P, M} = spawn_monitor(fun() -> receive go -> ok end, exit({result, untimed(return)}) end),
    Fn = {?MODULE, timed, 1},
    Off = case erltrace_vm:has_sessions() of
              true ->
                  S = apply(trace, session_create, [erltrace_calls, self(), []]),
                  1 = apply(trace, function, [S, Fn, true, [call_time]]),
                  1 = apply(trace, process, [S, P, true, [call]]),
                  fun() -> erltrace_vm:end_session(S) end;
              false ->
                  1 = erlang:trace_pattern(Fn, true, [call_time]),
                  _ = erlang:trace(P, false, [all]), % others may trace new processes
                  1 = erlang:trace(P, true, [call]),
                  fun() -> erlang:trace_pattern(Fn, false, [call_time]) end
          end,
    P ! go,
    Result = receive
                 {'DOWN', M, process, P, {result, {{R}}}} -> R;
                 {'DOWN', M, process, P, Why} -> {refused, erltrace_find:text("~0P", [Why, 20])}
             end,
    _ = Off(),
    Result.

untimed(Step) -> X = timed(Step), {X}.

-spec timed(term()) -> {term()}.
timed(Step) -> Y = erltrace_nif:find(fast, Step), {Y}.

%% ---- the self-test ---------------------------------------------------------------------------

%% @doc The hooks are there from now on; their test on functions of this module.
-spec self_test() -> erltrace_find:outcome().
self_test() ->
    erltrace_find:all_ok([fun() -> erltrace_nif:find(fast, install) end, fun test_hooks/0]).

test_hooks() ->
    case erltrace_nif:find(fast, test_start) of
        ok ->
            Result = try tests() after erltrace_nif:find(fast, test_stop) end,
            Result =:= ok orelse erltrace_nif:find(fast, forget),
            Result;
        {refused, Why} ->
            {try_again, Why} % another library's handles, which will end
    end.

tests() ->
    Fns = [{fast, ?MODULE, F, 1} || F <- [body, tail, raise, grow]],
    Fast = arm(alone, Fns, self()),
    try
        erltrace_find:all_ok(
            [fun() -> count(What, Test, Counts) end || {What, Test, Counts} <- cases()] ++
                [fun reasons/0]
        )
    after
        disarm(Fast)
    end.

%% What each counts: entries, tail calls, returns, the sum of what body/1 returned, frames left by
%% error, exit and throw, those that nobody caught, others.
cases() ->
    [{"returns", fun() -> 10 = id(body(10)) end, [11, 0, 11, 55, 0, 0, 0, 0, 0]},
     {"tail calls", fun() -> 0 = id(tail(10)) end, [11, 10, 1, 0, 0, 0, 0, 0, 0]},
     {"exceptions", fun() -> [catch_(raise, C) || C <- [error, exit, throw]] end,
      [3, 0, 0, 0, 1, 1, 1, 0, 0]},
     {"deep exceptions", fun() -> [catch_(raise, {5, C}) || C <- [error, exit, throw]] end,
      [18, 0, 0, 0, 6, 6, 6, 0, 0]},
     {"garbage collection", fun() -> 300 = length(grow(300)) end,
      [301, 0, 301, 0, 0, 0, 0, 0, 0]},
     {"an exit", fun() -> raise({2, exit}) end, [3, 0, 0, 0, 0, 0, 0, 3, 0]}].

count(What, Test, Counts) ->
    {P, M} = spawn_opt(fun() -> _ = Test(), id(ok) end, [monitor, {min_heap_size, 233}]),
    receive {'DOWN', M, process, P, _} -> ok end,
    case erltrace_nif:find(fast, {counts, 0}) of
        Counts -> ok;
        Other -> {refused, erltrace_find:text("~s: ~w events instead of ~w", [What, Other, Counts])}
    end.

%% Where an exception is kept before it is handled; and what the VM's own are.
reasons() ->
    %% of what the VM makes the reason: a tag and a value, a tag, the first element of a tuple
    Kinds = [
        {error, none},
        {exit, none},
        {throw, none},
        {badmatch, value},
        {case_clause, value},
        {try_clause, value},
        {badfun, value},
        {badarity, value},
        {badmap, value},
        {function_clause, tag},
        {if_clause, tag},
        {badarg, tag},
        {badarith, tag},
        {undef, tag},
        {system_limit, tag},
        {error_args, first}
    ],
    _ = erltrace_find:in_process(
        fun() ->
            [kind(N, K) || {N, K} <- lists:zip(lists:seq(0, length(Kinds) - 1), Kinds)],
            ok
        end,
        []
    ),
    _ = erltrace_nif:find(fast, {counts, 0}),
    erltrace_nif:find(fast, {reasons, 0}).

kind(N, {Kind, Form}) ->
    ok = erltrace_nif:find(fast, {kind, {N, Kind, Form}}),
    catch_(raise, Kind),
    erltrace_nif:find(fast, {kind, none}).

catch_(raise, How) ->
    try id(raise(How)) catch _:_ -> ok end.

id(X) -> X.

-spec body(non_neg_integer()) -> non_neg_integer().
body(0) -> 0;
body(N) -> 1 + body(N - 1).

-spec tail(non_neg_integer()) -> 0.
tail(0) -> 0;
tail(N) -> tail(N - 1).

-spec grow(non_neg_integer()) -> [[integer()]].
grow(0) -> [];
grow(N) -> [lists:seq(1, 50) | grow(N - 1)].

-spec raise(term()) -> term().
raise({0, Class}) -> erlang:raise(Class, ?MODULE, []);
raise({N, Class}) -> {raise({N - 1, Class})};
raise(error) -> error(?MODULE);
raise(exit) -> exit(?MODULE);
raise(throw) -> throw(?MODULE);
raise(badmatch) -> {} = id(?MODULE);
raise(case_clause) -> case id(?MODULE) of {} -> ok end;
raise(try_clause) -> try id(?MODULE) of {} -> ok catch throw:none -> ok end;
raise(badfun) -> (id(?MODULE))();
raise(badarity) -> (id(fun(_) -> ok end))();
raise(undef) -> ?MODULE:no_such_function();
raise(error_args) -> error(?MODULE, [none]);
raise(badmap) -> (id(?MODULE))#{a => b};
raise(if_clause) -> X = id(?MODULE), if X =:= {} -> ok end;
raise(badarg) -> {atom_to_list(id({}))};
raise(badarith) -> 1 + id(?MODULE);
raise(system_limit) -> {list_to_atom(lists:duplicate(256, $a))}.
%% function_clause is what is left.

%% ---- arming ----------------------------------------------------------------------------------

%% @doc Set the breakpoints of what a script needs. `alone': the self-test.
-spec arm(pos_integer() | alone, [term()], Owner :: pid()) -> fast().
arm(Number, Needs, Owner) ->
    add(Needs, #fast{number = Number, owner = Owner}).

%% @doc More of them: a module has been loaded, or loaded again.
-spec add([term()], fast()) -> fast().
add(Needs, #fast{patterns = Old} = Fast) ->
    case erltrace_patterns:from_needs([N || {fast, _, _, _} = N <- Needs]) of
        New when map_size(New) =:= 0 -> Fast;
        New -> set(New, Fast#fast{patterns = erltrace_patterns:merge(Old, New)})
    end.

set(New, #fast{session = Session} = Fast) ->
    case {Session, erltrace_vm:has_sessions()} of
        {_, false} ->
            erltrace_vm:locked(fun() -> set_shared(Fast) end),
            Fast;
        {undefined, true} ->
            S = apply(trace, session_create, [erltrace_calls, {erltrace_nif, 0}, []]),
            set(New, Fast#fast{session = S});
        _ ->
            erltrace_patterns:on(New, #{}, {fun(_) -> true end, fun(_) -> ok end}, setter(Fast)),
            _ = pattern(Session, {'_', '_', '_'}, pause, [call_count]), % all that the session has
            Fast
    end.

setter(#fast{session = Session, owner = Owner}) ->
    fun(MFA, Pattern, Opts) ->
            node(Owner) =:= node() andalso not is_process_alive(Owner) andalso throw(owner_gone),
            pattern(Session, MFA, Pattern, Opts)
    end.

pattern(Session, MFA, Pattern, Opts) -> erltrace_counters:pattern(Session, MFA, Pattern, Opts).

%% @doc Take them back.
-spec disarm(fast()) -> ok.
disarm(#fast{session = undefined, number = Number}) ->
    forget(Number);
disarm(#fast{session = Session}) ->
    erltrace_vm:end_session(Session).

%% @doc Is this function armed in the code that is loaded now?
-spec is_armed(fast(), mfa()) -> boolean().
is_armed(#fast{session = Session}, MFA) -> is_integer(counter(Session, MFA)).

%% @doc Before OTP 27 a function that somebody traces by [global] is left to them.
-spec can_be_armed(fast(), mfa()) -> boolean().
can_be_armed(#fast{session = undefined}, MFA) ->
    erlang:trace_info(MFA, traced) =/= {traced, global};
can_be_armed(_, _) -> true.

counter(Session, MFA) -> erltrace_counters:counter(Session, MFA).

%% @doc How many functions.
-spec count(fast()) -> non_neg_integer().
count(#fast{patterns = Patterns}) -> erltrace_patterns:count(Patterns).

%% ---- one counter for all: before OTP 27 ------------------------------------------------------

set_shared(#fast{number = Number, patterns = Patterns} = Fast) ->
    #{ours := Ours, handles := Handles, arming := Arming, paused := Paused} = Kept = kept(),
    New = erltrace_patterns:filter(fun(MFA, _) -> is_free(MFA) end, Patterns),
    Kept1 = Kept#{ours := erltrace_patterns:merge(Ours, New),
                  handles := [{Number, Patterns} | lists:keydelete(Number, 1, Handles)]},
    Touch = fun(More) ->
                    Now = erltrace_patterns:merge(New, More),
                    keep(Kept1#{ours := erltrace_patterns:merge(Ours, Now),
                                arming := erltrace_patterns:merge(Arming, Now)})
            end,
    Touch(#{}),
    erltrace_patterns:on(New, Ours, {fun is_free/1, Touch}, setter(Fast)),
    maps:foreach(fun(M, Fs) -> pause(M, Fs, maps:get(M, Ours, #{}), Kept) end, New),
    keep(Kept1#{paused := erltrace_patterns:fold(fun note_paused/3, Paused, New)}).

%% They do not count: one call for a module, unless somebody else counts in it.
pause(M, New, Ours, Kept) ->
    Quiet = fun({F, A} = Fn) ->
                    is_map_key(Fn, New) orelse is_free({M, F, A}) orelse
                        (is_map_key(Fn, Ours) andalso not counts({M, F, A}, Kept))
            end,
    case map_size(New) > 1 andalso lists:all(Quiet, functions(M)) of
        true -> pattern(undefined, {M, '_', '_'}, pause, [call_count]);
        false -> [pattern(undefined, {M, F, A}, pause, [call_count]) || {F, A} <- maps:keys(New)]
    end.

%% Calls before the pause have been counted.
note_paused(MFA, _, Paused) ->
    case counter(undefined, MFA) of
        N when is_integer(N), N > 0 -> Paused#{MFA => N};
        _ -> maps:remove(MFA, Paused)
    end.

%% Does somebody else count this function, which was ours and paused? The VM does not say whether a
%% counter is paused: one that is stands where it stood.
counts(MFA, #{arming := Arming, paused := Paused}) ->
    case erltrace_patterns:get(MFA, Arming) =:= none andalso counter(undefined, MFA) of
        N when is_integer(N) -> N =/= maps:get(MFA, Paused, 0);
        _ -> false
    end.

functions(M) ->
    try erlang:get_module_info(M, functions)
    catch error:_ -> [] % it is not loaded
    end.

%% @doc Others may have taken breakpoints away that were ours, of a function or two. A few functions
%% are looked at each time, all in turn.
-spec renew(fast()) -> fast().
renew(#fast{session = undefined, unseen = [], patterns = Patterns} = Fast) when
    map_size(Patterns) > 0
->
    look_at(Fast#fast{
        unseen = [
            {M, F, A}
         || {M, Fs} <- maps:to_list(Patterns),
            {F, A} <- maps:keys(Fs)
        ]
    });
renew(#fast{session = undefined, unseen = [_ | _]} = Fast) -> look_at(Fast);
renew(Fast) -> Fast.

look_at(#fast{unseen = Unseen} = Fast) ->
    {Now, Later} = lists:split(min(?AT_ONCE, length(Unseen)), Unseen),
    _ = lists:any(fun is_free/1, Now) andalso erltrace_vm:locked(fun() -> set_shared(Fast) end),
    Fast#fast{unseen = Later}.

%% @doc Take back what only handle Number needs, and what handles that are dead have left.
-spec forget(pos_integer() | alone) -> ok.
forget(Number) ->
    case erltrace_vm:has_sessions() orelse breakpoints() =:= [] of
        true -> ok; % a session ends with the process that holds it
        false -> erltrace_vm:locked(fun() -> sweep(Number) end)
    end.

sweep(Number) ->
    #{ours := Ours, handles := Handles} = Kept = kept(),
    Stay = [H || {N, _} = H <- Handles, N =/= Number, N =/= alone, erltrace_vm:alive(N)],
    Needed = lists:foldl(fun({_, Ps}, All) -> erltrace_patterns:merge(All, Ps) end, #{}, Stay),
    Off = erltrace_patterns:without(Needed, Ours),
    On = erltrace_patterns:filter(fun(MFA, _) -> is_integer(counter(undefined, MFA)) end, Off),
    Theirs = erltrace_counters:left_to_others(On, fun(MFA) -> counts(MFA, Kept) end),
    erltrace_patterns:off(erltrace_patterns:without(Theirs, On), fun is_free/1,
                          fun(MFA, Pattern, Opts) -> pattern(undefined, MFA, Pattern, Opts) end),
    keep(Kept#{ours := erltrace_patterns:without(Off, Ours), handles := Stay, arming := #{}}),
    erltrace_vm:renew(). % a function may have its [global] pattern now

is_free(MFA) ->
    counter(undefined, MFA) =:= false andalso erlang:trace_info(MFA, traced) =/= {traced, global}.

%% @doc What each handle has armed, before OTP 27.
-spec breakpoints() -> [{pos_integer() | alone, erltrace_patterns:patterns()}].
breakpoints() ->
    #{handles := Handles} = kept(),
    Handles.

%% @doc What our handles have set, before OTP 27.
-spec ours() -> erltrace_patterns:patterns().
ours() ->
    #{ours := Ours} = kept(),
    Ours.

kept() ->
    erltrace_nif:kept(?KEPT, ?NOTHING).

keep(#{handles := []}) ->
    _ = erltrace_nif:drop(?KEPT),
    ok;
keep(#{ours := Ours} = Kept) ->
    case erltrace_patterns:count(Ours) of
        N when N > ?MANY -> erltrace_nif:keep_large(?KEPT, Kept);
        _ -> erltrace_nif:keep(?KEPT, Kept)
    end.
