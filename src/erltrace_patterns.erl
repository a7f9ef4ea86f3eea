%% SPDX-License-Identifier: Apache-2.0
%% @private
%% Patterns of many functions in few calls. Each call that sets a pattern has every scheduler come
%% by several times, and looks through all functions of the node, so it costs milliseconds, for one
%% function as for a thousand. Where most of a module is meant, one call sets all of it and others
%% take back the rest; where most modules of the node are, the same with all of them.
-module(erltrace_patterns).
-export([on/4, off/3, pattern/1, scope/1]).
-export_type([kind/0, patterns/0, set/0]).

-define(MANY, 20). % modules: then it is worth asking of every function in the node whose it is

-type kind() :: local | global | return.
-type patterns() :: #{mfa() => kind()}.
-type set() :: fun((Functions :: {module() | '_', atom(), arity() | '_'},
                    Pattern :: boolean() | list(), [local | global]) -> term()).
-type is_free() :: fun((mfa()) -> boolean()).

%% @doc Set these. Stay: what is set already and stays. IsFree: may the pattern of a function be
%% changed that is in neither of them? Touch is told of such functions before they are.
-spec on(patterns(), patterns(), {is_free(), Touch :: fun(([{mfa(), kind()}]) -> term())}, set()) ->
          ok.
on(On, Stay, {IsFree, Touch}, Set) ->
    Plans = [plan(M, Fs, On, Stay, IsFree) || {M, Fs} <- by_module(On)],
    Kind = most([K || {whole, {_, K}, _, _, _} <- Plans]),
    Whole = [Plan || {whole, {_, K}, _, _, _} = Plan <- Plans, K =:= Kind],
    Rest = lists:append([R || {whole, _, _, _, R} <- Plans]),
    case map_size(Stay) =:= 0 andalso others(Whole, IsFree) of
        false ->
            Touch(Rest),
            lists:foreach(fun(Plan) -> set(Plan, Set) end, Plans);
        Others ->
            Touch(Rest ++ [{F, Kind} || F <- Others, not is_map_key(F, On)]),
            set_on({'_', '_', '_'}, Kind, Set),
            Done = modules(Whole),
            [set_off({M, '_', '_'}, Kind, Set) || M <- erlang:loaded(), not is_map_key(M, Done)],
            [set_rest(Plan, Set) || Plan <- Whole],
            lists:foreach(fun(Plan) -> set(Plan, Set) end, Plans -- Whole)
    end.

%% The functions of all other modules, if these are few, and all free.
others(Whole, IsFree) ->
    Done = modules(Whole),
    Others = [M || M <- erlang:loaded(), not is_map_key(M, Done)],
    Fs = length(Whole) > max(?MANY, 1 + length(Others)) andalso
        lists:append([functions(M, functions) || M <- Others]),
    is_list(Fs) andalso lists:all(IsFree, Fs) andalso Fs.

modules(Whole) ->
    maps:from_list([{M, true} || {whole, {M, _}, _, _, _} <- Whole]).

%% @doc Take these back. IsBare: has a function no pattern at all?
-spec off(patterns(), is_free(), set()) -> ok.
off(Off, IsBare, Set) ->
    Modules = by_module(Off),
    Scopes = lists:usort([scope(K) || K <- maps:values(Off)]),
    case length(Modules) > ?MANY andalso
        lists:all(fun(M) -> is_bare(functions(M, functions), Off, IsBare) end, erlang:loaded()) of
        true -> lists:foreach(fun(S) -> Set({'_', '_', '_'}, false, [S]) end, Scopes);
        false -> lists:foreach(fun({M, Fs}) -> module_off(M, Fs, Off, IsBare, Set) end, Modules)
    end.

module_off(M, Fs, Off, IsBare, Set) ->
    All = functions(M, functions),
    case length(Fs) > 1 andalso is_bare(All, Off, IsBare) of
        true -> [Set({M, '_', '_'}, false, [S]) || S <- lists:usort([scope(K) || {_, K} <- Fs])];
        false -> [set_off(F, K, Set) || {F, K} <- by_name(Fs, All)]
    end.

%% All but what is taken back has no pattern.
is_bare(Functions, Off, IsBare) ->
    lists:all(fun(F) -> is_map_key(F, Off) orelse IsBare(F) end, Functions).

%% {whole, {Module, Kind}, what to take back, what to set besides}, or one by one.
plan(M, Fs, On, Stay, IsFree) ->
    Kind = most([K || {_, K} <- Fs]),
    All = functions(M, functions),
    Hit = case Kind of global -> functions(M, exports); _ -> All end,
    Rest = [{F, Kind} || F <- Hit, not is_map_key(F, On), not is_map_key(F, Stay)],
    Off = by_name(Rest, Hit),
    Other = by_name([F || {_, K} = F <- Fs, K =/= Kind], All),
    Each = by_name(Fs, All),
    %% What another handle has is not to be without its pattern for a moment.
    Disturbs = map_size(Stay) > 0 andalso
        lists:any(fun(F) -> maps:get(F, Stay, Kind) =/= Kind end, All),
    case 1 + length(Off) + length(Other) < length(Each) andalso not Disturbs andalso
        lists:all(fun({F, _}) -> IsFree(F) end, Rest) of
        true -> {whole, {M, Kind}, Off, Other, Rest};
        false -> {each, Each}
    end.

%% Functions of one name in one call, where it is all of them.
by_name(Fs, All) ->
    Names = lists:foldl(fun({M, F, _}, Ns) -> maps:update_with({M, F}, fun(N) -> N + 1 end, 1, Ns)
                        end, #{}, All),
    Groups = lists:foldl(fun({{M, F, _}, K} = Fn, Gs) ->
                                 maps:update_with({M, F, K}, fun(L) -> [Fn | L] end, [Fn], Gs)
                         end, #{}, Fs),
    maps:fold(fun({M, F, K}, [_, _ | _] = Fns, Calls) when
                        length(Fns) =:= map_get({M, F}, Names) -> [{{M, F, '_'}, K} | Calls];
                 (_, Fns, Calls) -> Fns ++ Calls
              end, [], Groups).

set({each, Fs}, Set) ->
    lists:foreach(fun({F, K}) -> set_on(F, K, Set) end, Fs);
set({whole, {M, Kind}, _, _, _} = Plan, Set) ->
    set_on({M, '_', '_'}, Kind, Set),
    set_rest(Plan, Set).

set_rest({whole, _, Off, Other, _}, Set) ->
    lists:foreach(fun({F, K}) -> set_off(F, K, Set) end, Off),
    lists:foreach(fun({F, K}) -> set_on(F, K, Set) end, Other).

set_on(MFA, Kind, Set) -> Set(MFA, pattern(Kind), [scope(Kind)]).

set_off(MFA, Kind, Set) -> Set(MFA, false, [scope(Kind)]).

%% @doc What the VM is given for it.
-spec pattern(kind()) -> true | [tuple()].
pattern(return) -> [{'_', [], [{return_trace}]}];
pattern(_) -> true.

-spec scope(kind()) -> local | global.
scope(return) -> local;
scope(Kind) -> Kind.

by_module(Patterns) ->
    maps:to_list(maps:fold(fun({M, _, _} = MFA, Kind, Ms) ->
                                   case Ms of
                                       #{M := Fs} -> Ms#{M := [{MFA, Kind} | Fs]};
                                       _ -> Ms#{M => [{MFA, Kind}]}
                                   end
                           end, #{}, Patterns)).

most(Kinds) ->
    Counts = [{length([x || K1 <- Kinds, K1 =:= K]), K} || K <- [local, global, return]],
    {_, Kind} = lists:max(Counts),
    Kind.

%% Not by Module:module_info: that would load a module which has been deleted.
functions(M, What) ->
    try [{M, F, A} || {F, A} <- erlang:get_module_info(M, What)]
    catch error:_ -> [] % it is not loaded
    end.
