%% SPDX-License-Identifier: Apache-2.0
%% @private
%% Functions whose calls the VM counts itself (call_count). c_src/beam/nif/counters.c decides which
%% functions qualify and adds up the counts; this module sets, reads and removes the counters.
%%
%% The VM counts the calls of every process; the tracer counts those of all but erltrace's own. So
%% functions that erltrace's processes may call are left to the tracer. From OTP 27 on the counters
%% are in a trace session of their own. Before that a function has one counter in the whole node:
%% one that somebody else counts already is left to the tracer too, and so is one with a [global]
%% pattern, which excludes counting. The library keeps what each handle has set, as for erltrace_vm,
%% and under the same lock.
%%
%% Reading a counter takes one or two microseconds, more if the code is in no cache. If a script has
%% more than 10,000 functions (the application's setting counters_most) none is counted, so that
%% results do not have to wait. All counters are read before results are. They are also read now and
%% then, because reloading a module loses its counters and what has not been read. Reading takes at
%% most a 20th of the time, or half of it while records wait: a record may print what is counted, so
%% the counters are read after it was written and before it is consumed.
-module(erltrace_counters).
-export([new/3, add/3, any/1, read/1, read_if_due/1, read_in_background/1, lost/1, off/1, forget/1,
         kept/0, about/1]).
-export([pattern/4, counter/2, left_to_others/2]). % for erltrace_fastcalls
-export_type([counters/0]).
-include("build/erltrace_modules.hrl"). % OURS

-define(BATCH, 500).    % counts given to the library at once
-define(MANY, 1000).    % functions: reading more runs at normal priority
-define(MOST, 10000).   % functions: reading takes some ten milliseconds
-define(SHARE, 20).     % reading takes a 20th of the time
-define(EVERY, 100000). % us between two readings in the background, or
-define(LITTLE, 200).   % this many times what one takes, if that is less

-record(counters, {nif, number, owner,
                   session,          % from OTP 27 on, if there is any counter
                   fns = [],         % the functions that are counted
                   n = 0,            % how many
                   samples = #{},    % one function of each module
                   lost = #{},       % modules that have lost a counter
                   own = 0,          % functions left to the tracer because we call them
                   others = 0,       % ... because somebody else counts them
                   many = 0,         % ... because there are too many
                   cost = 0,         % us: what the last reading took
                   at}).             % us: when it ended (may be below 0)
-opaque counters() :: #counters{}.

%% @doc Have the VM count what it can from now on. Gives up if the owner ends meanwhile.
-spec new(reference(), pos_integer(), Owner :: pid()) -> counters().
new(Nif, Number, Owner) ->
    C = #counters{nif = Nif, number = Number, owner = Owner, at = now_us()},
    try claim(countable(Nif, all), C)
    catch throw:owner_gone -> forget(Number), C
    end.

%% @doc Modules have been loaded: have the VM count what it can in them. Returns the patterns that
%% are left to the tracer.
-spec add([module()], [Pattern], counters()) -> {[Pattern], counters()}
              when Pattern :: {atom(), module(), atom(), arity()}.
add(Modules, Patterns, #counters{nif = Nif} = C) ->
    Wanted = maps:from_list([{{M, F, A}, true} || {_, M, F, A} <- Patterns]),
    Can = [MFA || M <- Modules, MFA <- countable(Nif, M), is_map_key(MFA, Wanted)],
    C1 = #counters{fns = Fns} = claim(Can, C),
    Counted = maps:from_keys(lists:sublist(Fns, length(Fns) - C#counters.n), true),
    {[P || {_, M, F, A} = P <- Patterns, not is_map_key({M, F, A}, Counted)], C1}.

countable(Nif, What) ->
    case erltrace_nif:countable(Nif, What) of
        {error, closed} -> [];
        Fns -> Fns
    end.

%% @doc Is anything counted?
-spec any(counters()) -> boolean().
any(#counters{n = N}) -> N > 0.

%% @doc For -v and the like.
-spec about(counters()) ->
          [{counted | called_by_us | counted_by_others | too_many, pos_integer()}].
about(#counters{n = N, own = Own, others = Others, many = Many}) ->
    [{What, K} || {What, K} <- [{counted, N}, {called_by_us, Own}, {counted_by_others, Others},
                                {too_many, Many}], K > 0].

%% ---- setting ---------------------------------------------------------------------------------

claim([], C) ->
    C;
claim(Fns, #counters{n = N, own = Own, many = Many} = C) ->
    Ours = ours(),
    Most = application:get_env(erltrace, counters_most, ?MOST),
    Free = [MFA || {M, _, _} = MFA <- Fns, not is_map_key(M, Ours)],
    C1 = C#counters{own = Own + length(Fns) - length(Free)},
    case N + length(Free) of
        K when K =< Most -> set(Free, C1);
        _ -> C1#counters{many = Many + length(Free)}
    end.

%% Modules that a process of ours may call.
ours() ->
    Apps = [case application:get_key(App, modules) of
                {ok, Modules} -> Modules;
                undefined -> []
            end || App <- [kernel, stdlib]],
    maps:from_keys(lists:append([?OURS, erlang:pre_loaded() | Apps]), true).

set([], C) ->
    C;
set(Fns, #counters{number = Number} = C) ->
    case erltrace_vm:has_sessions() of
        true ->
            Session = session(C),
            mark(Fns, C),
            erltrace_patterns:on(patterns(Fns), #{}, {fun(_) -> true end, fun(_) -> ok end},
                                 setter(Session, C)),
            added(Fns, C#counters{session = Session});
        false ->
            erltrace_vm:locked(fun() -> set_shared(Number, Fns, C) end)
    end.

session(#counters{session = undefined, number = Number}) ->
    apply(trace, session_create, [erltrace_counters, {erltrace_nif, Number}, []]);
session(#counters{session = Session}) ->
    Session.

set_shared(Number, Fns, #counters{others = Others} = C) ->
    Kept = sweep(fun is_dead/1, kept()),
    Free = lists:filter(fun is_free/1, Fns),
    C1 = C#counters{others = Others + length(Fns) - length(Free)},
    case Free of
        [] -> C1; % keep nothing: nobody would remove it
        _ -> set_free(Number, Free, Kept, C1)
    end.

set_free(Number, Free, Kept, C) ->
    New = patterns(Free),
    Mine = proplists:get_value(Number, Kept, #{}),
    Rest = lists:keydelete(Number, 1, Kept),
    Keep = fun(More) -> keep([{Number, lists:foldl(fun erltrace_patterns:merge/2, Mine, More)} |
                              Rest]) end,
    Keep([New]),
    mark(Free, C),
    Touch = fun(More) -> Keep([New, More]) end, % they are ours for a moment
    erltrace_patterns:on(New, Mine, {fun is_free/1, Touch}, setter(undefined, C)),
    Keep([New]),
    added(Free, C).

%% From here on events of these functions do not fire, and results wait for the counters.
mark(Fns, #counters{nif = Nif}) -> ok = erltrace_nif:counted(Nif, Fns).

added(Fns, #counters{fns = Old, n = N, samples = Samples} = C) ->
    New = maps:from_list([{M, MFA} || {M, _, _} = MFA <- Fns]),
    C#counters{fns = Fns ++ Old, n = N + length(Fns), samples = maps:merge(Samples, New)}.

patterns(Fns) ->
    erltrace_patterns:from_needs([{count, M, F, A} || {M, F, A} <- Fns]).

setter(Session, #counters{owner = Owner}) ->
    fun(MFA, Pattern, Opts) ->
            node(Owner) =:= node() andalso not is_process_alive(Owner) andalso throw(owner_gone),
            pattern(Session, MFA, Pattern, Opts)
    end.

%% @doc Set it, in a trace session or, before OTP 27, for the node.
-spec pattern(term(), {module() | '_', atom(), arity() | '_'}, boolean() | pause | list(), [
    atom()
]) ->
    term().
pattern(Session, MFA, Pattern, Opts) ->
    try
        case Session of
            undefined -> erlang:trace_pattern(MFA, Pattern, Opts);
            _ -> apply(trace, function, [Session, MFA, Pattern, Opts])
        end
    catch error:badarg -> 0 % the module has gone
    end.

is_free(MFA) ->
    counter(undefined, MFA) =:= false andalso erlang:trace_info(MFA, traced) =/= {traced, global}.

%% @doc What it has counted; `false': it does not count.
-spec counter(term(), mfa()) -> non_neg_integer() | false | undefined.
counter(undefined, MFA) ->
    {call_count, N} = erlang:trace_info(MFA, call_count),
    N;
counter(Session, MFA) ->
    {call_count, N} = apply(trace, info, [Session, MFA, call_count]),
    N.

%% ---- reading ---------------------------------------------------------------------------------

%% @doc Add to the results what the counters have grown by since the last reading.
-spec read(counters()) -> counters().
read(#counters{n = 0} = C) ->
    C;
read(#counters{n = N, nif = Nif, session = Session, fns = Fns, lost = Lost} = C) ->
    Old = [process_flag(priority, normal) || N > ?MANY],
    Began = now_us(),
    _ = erltrace_nif:counting(Nif, start),
    {Anew, Lost1} = read(Fns, {Nif, Session}, [], 0, {0, Lost}),
    _ = erltrace_nif:counting(Nif, done),
    Anew > 0 andalso
        erltrace_nif:warn(Nif, io_lib:format("somebody else has begun to count the calls of ~b "
                                             "function~s: some calls are missing",
                                             [Anew, case Anew of 1 -> ""; _ -> "s" end])),
    Now = now_us(),
    [process_flag(priority, P) || P <- Old],
    C#counters{lost = Lost1, cost = Now - Began, at = Now}.

-dialyzer({no_improper_lists, read/5}).
read(Fns, {Nif, _} = From, Batch, Size, {Anew, Lost}) when Fns =:= []; Size =:= ?BATCH ->
    More = case erltrace_nif:count(Nif, Batch) of
               K when is_integer(K) -> K;
               {error, closed} -> 0
           end,
    case Fns of
        [] -> {Anew + More, Lost};
        _ -> read(Fns, From, [], 0, {Anew + More, Lost})
    end;
read([{M, _, _} = MFA | Fns], {_, Session} = From, Batch, Size, {Anew, Lost} = Seen) ->
    case counter(Session, MFA) of
        N when is_integer(N) -> read(Fns, From, [[MFA | N] | Batch], Size + 1, Seen);
        _ -> read(Fns, From, Batch, Size, {Anew, Lost#{M => true}})
    end.

%% @doc The same, unless it would take too large a share of the time.
-spec read_if_due(counters()) -> counters().
read_if_due(#counters{n = 0} = C) ->
    C;
read_if_due(#counters{nif = Nif, cost = Cost, at = At} = C) ->
    Share = case erltrace_nif:counting(Nif, pending) of
                true -> 1;
                _ -> ?SHARE
            end,
    case now_us() - At >= Share * Cost of
        true -> read(C);
        false -> C
    end.

%% @doc The same without being asked, so that little is lost when a module is reloaded.
-spec read_in_background(counters()) -> counters().
read_in_background(#counters{cost = Cost, at = At} = C) ->
    case now_us() - At >= max(min(?EVERY, ?LITTLE * Cost), ?SHARE * Cost) of
        true -> read(C);
        false -> C
    end.

now_us() ->
    erlang:monotonic_time(microsecond).

%% ---- lost counters ---------------------------------------------------------------------------

%% @doc The modules that have lost a counter, because they were reloaded or somebody else removed
%% it. Nothing is counted in them any more.
-spec lost(counters()) -> {[module()], counters()}.
lost(#counters{session = Session, samples = Samples, lost = Known} = C) ->
    Gone = maps:filter(fun(_, MFA) -> not is_integer(counter(Session, MFA)) end, Samples),
    case map_size(Gone) + map_size(Known) of
        0 -> {[], C};
        _ -> give_up(read(C))
    end.

give_up(#counters{nif = Nif, fns = Fns, samples = Samples, lost = Lost, session = Session} = C) ->
    {Gone, Stay} = lists:partition(fun({M, _, _}) -> is_map_key(M, Lost) end, Fns),
    [pattern(Session, MFA, false, [call_count]) || MFA <- Gone,
                                                   is_integer(counter(Session, MFA))],
    Modules = maps:keys(Lost),
    lists:foreach(fun(M) ->
                          erltrace_nif:uncount(Nif, M),
                          erltrace_nif:warn(Nif, lost_warning(M))
                  end, Modules),
    {Modules, C#counters{fns = Stay, n = length(Stay), samples = maps:without(Modules, Samples),
                         lost = #{}}}.

lost_warning(M) ->
    unicode:characters_to_binary(
      io_lib:format("module ~ts was loaded again, or somebody else has set its counters: calls of "
                    "its functions just before that may be missing", [M])).

%% ---- removing --------------------------------------------------------------------------------

%% @doc Read the counters for the last time, and remove them.
-spec off(counters()) -> counters().
off(#counters{n = 0, session = undefined} = C) ->
    over(C),
    C;
off(#counters{number = Number, session = Session} = C) ->
    try read(C)
    catch error:badarg -> C % another library has been loaded
    after
        over(C),
        case Session of
            undefined -> forget(Number);
            _ -> erltrace_vm:end_session(Session)
        end
    end,
    C#counters{fns = [], samples = #{}, n = 0, session = undefined}.

over(#counters{nif = Nif}) ->
    try erltrace_nif:counting(Nif, over)
    catch error:badarg -> ok
    end.

%% @doc Remove the counters of this handle, and those that dead handles have left behind.
-spec forget(pos_integer()) -> ok.
forget(Number) ->
    case erltrace_vm:has_sessions() orelse kept() =:= [] of
        true -> ok; % a session ends with the process that holds it
        false ->
            Is = fun(N) -> N =:= Number orelse is_dead(N) end,
            erltrace_vm:locked(fun() -> sweep(Is, kept()) end),
            ok
    end.

is_dead(Number) ->
    not erltrace_vm:alive(Number).

%% Returns those that stay. A function that had a [local] pattern instead of a [global] one because
%% it was counted gets the [global] one (renew/0).
sweep(IsGone, Kept) ->
    case lists:partition(fun({N, _}) -> IsGone(N) end, Kept) of
        {[], Stay} -> Stay;
        {Gone, Stay} ->
            Set = fun(MFA, Pattern, Opts) -> pattern(undefined, MFA, Pattern, Opts) end,
            On = [on_still(Ps) || {_, Ps} <- Gone],
            Theirs = [left_to_others(Ps, fun(_) -> false end) || Ps <- On],
            [erltrace_patterns:off(erltrace_patterns:without(T, Ps), fun is_free/1, Set) ||
                {T, Ps} <- lists:zip(Theirs, On)],
            keep(Stay),
            erltrace_vm:renew(),
            Stay
    end.

%% @doc Others may have begun to count what is ours, as cprof does: of these functions, those that
%% are left to them. All, if somebody counts all functions and those of modules that will be loaded.
%% A module, if all of it is counted and not by us alone. Else those whose counters have been Moved.
-spec left_to_others(erltrace_patterns:patterns(), Moved :: fun((mfa()) -> boolean())) ->
          erltrace_patterns:patterns().
left_to_others(Off, _) when map_size(Off) =:= 0 ->
    Off;
left_to_others(Off, Moved) ->
    case erlang:trace_info(on_load, call_count) of
        {call_count, true} ->
            Off;
        _ ->
            Ours = lists:foldl(
                fun erltrace_patterns:merge/2,
                erltrace_fastcalls:ours(),
                [Ps || {_, Ps} <- kept()]
            ),
            maps:filtermap(
                fun(M, Fs) -> left_to_others(M, Fs, maps:get(M, Ours, #{}), Moved) end, Off
            )
    end.

left_to_others(M, Fs, Ours, Moved) ->
    Theirs = maps:filter(fun({F, A}, _) -> Moved({M, F, A}) end, Fs),
    All = functions(M),
    Some = map_size(Theirs) > 0 orelse lists:any(fun(F) -> not is_map_key(F, Ours) end, All),
    case
        Some andalso lists:all(fun({F, A}) -> is_integer(counter(undefined, {M, F, A})) end, All)
    of
        true -> {true, Fs};
        false -> map_size(Theirs) > 0 andalso {true, Theirs}
    end.

functions(M) ->
    try erlang:get_module_info(M, functions)
    catch error:_ -> [] % it is not loaded
    end.

on_still(Patterns) ->
    erltrace_patterns:filter(fun(MFA, _) -> is_integer(counter(undefined, MFA)) end, Patterns).

%% @doc The counters of each handle, before OTP 27.
-spec kept() -> [{pos_integer(), erltrace_patterns:patterns()}].
kept() ->
    erltrace_nif:kept(counters, []).

keep([]) ->
    _ = erltrace_nif:drop(counters),
    ok;
keep(Kept) ->
    case lists:sum([erltrace_patterns:count(Ps) || {_, Ps} <- Kept]) of
        N when N > ?MANY -> erltrace_nif:keep_large(counters, Kept);
        _ -> erltrace_nif:keep(counters, Kept)
    end.
