%% SPDX-License-Identifier: Apache-2.0
%% @private
%% Patterns of many functions in few calls. Each call that sets a pattern has every scheduler come
%% by several times, so it costs milliseconds, for one function as for a thousand. Where most of a
%% module is meant, one call sets all of it and others take back the rest; where most modules of the
%% node are, the same with all of them.
-module(erltrace_patterns).
-export([on/4, off/3, all_on/2, pattern/1, scope/1]).
-export_type([kind/0, patterns/0, set/0]).

-type kind() :: local | global | return.
-type patterns() :: #{mfa() => kind()}.
-type set() :: fun((Functions :: {module() | '_', atom(), arity() | '_'},
                    Pattern :: boolean() | list(), [local | global]) -> term()).
-type is_free() :: fun((mfa()) -> boolean()).

%% @doc Set these. Stay: what is set already and stays. IsFree: may the pattern of a function be
%% changed that is in neither of them? Touch is told of such functions before they are.
-spec on(patterns(), patterns(), {is_free(), Touch :: fun(([{mfa(), kind()}]) -> term())}, set()) -> ok.
on(On, Stay, {IsFree, Touch}, Set) ->
    Plans = [plan(M, Fs, On, Stay, IsFree) || {M, Fs} <- by_module(On)],
    Touch(lists:append([Rest || {whole, _, _, _, Rest} <- Plans])),
    lists:foreach(fun(Plan) -> set(Plan, Set) end, Plans).

%% @doc The same where nobody else has patterns: in a trace session of ours, before it traces
%% anything.
-spec all_on(patterns(), set()) -> ok.
all_on(On, Set) ->
    Plans = [plan(M, Fs, On, #{}, fun(_) -> true end) || {M, Fs} <- by_module(On)],
    Kinds = [K || {whole, {_, K}, _, _, _} <- Plans],
    Kind = most(Kinds),
    Whole = [Plan || {whole, {_, K}, _, _, _} = Plan <- Plans, K =:= Kind],
    Not = length(erlang:loaded()) - length(Whole),
    case length(Whole) > 1 + Not of
        true ->
            set_on({'_', '_', '_'}, Kind, Set),
            Done = maps:from_keys([M || {whole, {M, _}, _, _, _} <- Whole], true),
            [set_off({M, '_', '_'}, Kind, Set) || M <- erlang:loaded(), not is_map_key(M, Done)],
            [set_rest(Plan, Set) || Plan <- Whole],
            lists:foreach(fun(Plan) -> set(Plan, Set) end, Plans -- Whole);
        false ->
            lists:foreach(fun(Plan) -> set(Plan, Set) end, Plans)
    end.

%% @doc Take these back. IsBare: has a function no pattern at all?
-spec off(patterns(), is_free(), set()) -> ok.
off(Off, IsBare, Set) ->
    lists:foreach(fun({M, Fs}) ->
                          Scopes = lists:usort([scope(K) || {_, K} <- Fs]),
                          All = functions(M, functions),
                          Rest = [F || F <- All, not is_map_key(F, Off)],
                          case length(Fs) > 1 andalso lists:all(IsBare, Rest) of
                              true -> [Set({M, '_', '_'}, false, [S]) || S <- Scopes];
                              false -> [set_off(F, K, Set) || {F, K} <- by_name(Fs, All)]
                          end
                  end, by_module(Off)).

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
