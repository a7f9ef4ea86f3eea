%% SPDX-License-Identifier: Apache-2.0
%% @private
%% Sets the patterns of many functions in few calls. Each call that sets a pattern synchronizes all
%% schedulers several times, and searches all functions of the node: it costs milliseconds, for one
%% function as for a thousand. If most functions of a module are wanted, one call sets all of them
%% and others remove the rest. If most modules of the node are, the same is done with all modules.
-module(erltrace_patterns).
-export([on/4, off/3, pattern/1, scope/1]).
-export([from_needs/1, merge/2, without/2, filter/2, map/2, fold/3, get/2, count/1]).
-export_type([kind/0, patterns/0, set/0]).

-define(MANY, 20). % modules: above this it pays to check every function of the node

%% label: of proc_lib:set_label/1; its events bring the label.
%% follow: the process that calls gets a sequential trace token, if it has none.
-type kind() :: local | global | return | exception | count | fast | label | label_return |
                label_exception | follow | follow_return | follow_exception.
-type functions() :: #{{atom(), arity()} => kind()}.
-type patterns() :: #{module() => functions()}. % by module: there may be 100,000 functions
-type set() :: fun((Functions :: {module() | '_', atom(), arity() | '_'},
                    Pattern :: boolean() | list(), [local | global | call_count]) -> term()).
-type is_free() :: fun((mfa()) -> boolean()).

%% ---- sets of patterns ------------------------------------------------------------------------

-spec from_needs(erltrace_needs:needs()) -> patterns().
from_needs(Needs) ->
    Modules = lists:foldl(fun({Kind, M, F, A}, Ms) ->
                                  case Ms of
                                      #{M := Fs} -> Ms#{M := [{{F, A}, Kind} | Fs]};
                                      _ -> Ms#{M => [{{F, A}, Kind}]}
                                  end;
                             (_, Ms) -> Ms
                          end, #{}, Needs),
    maps:map(fun(_, Fs) -> maps:from_list(Fs) end, Modules).

%% @doc Both; the second wins if a function is in both.
-spec merge(patterns(), patterns()) -> patterns().
merge(Old, New) ->
    maps:fold(fun(M, Fs, Ps) -> Ps#{M => maps:merge(maps:get(M, Ps, #{}), Fs)} end, Old, New).

%% @doc The functions of Patterns that are not in Gone.
-spec without(patterns(), patterns()) -> patterns().
without(Gone, Patterns) ->
    maps:fold(fun(M, Fs, Ps) ->
                      case Ps of
                          #{M := Have} -> put(M, maps:without(maps:keys(Fs), Have), Ps);
                          _ -> Ps
                      end
              end, Patterns, Gone).

put(M, Fs, Ps) when map_size(Fs) =:= 0 -> maps:remove(M, Ps);
put(M, Fs, Ps) -> Ps#{M => Fs}.

-spec get(mfa(), patterns()) -> kind() | none.
get({M, F, A}, Patterns) ->
    case Patterns of
        #{M := #{{F, A} := Kind}} -> Kind;
        _ -> none
    end.

-spec filter(fun((mfa(), kind()) -> boolean()), patterns()) -> patterns().
filter(Fun, Patterns) ->
    maps:filtermap(fun(M, Fs) ->
                           Fs1 = maps:filter(fun({F, A}, Kind) -> Fun({M, F, A}, Kind) end, Fs),
                           map_size(Fs1) > 0 andalso {true, Fs1}
                   end, Patterns).

-spec map(fun((mfa(), kind()) -> kind()), patterns()) -> patterns().
map(Fun, Patterns) ->
    maps:map(fun(M, Fs) -> maps:map(fun({F, A}, Kind) -> Fun({M, F, A}, Kind) end, Fs) end,
             Patterns).

-spec count(patterns()) -> non_neg_integer().
count(Patterns) ->
    maps:fold(fun(_, Fs, N) -> N + map_size(Fs) end, 0, Patterns).

-spec fold(fun((mfa(), kind(), Acc) -> Acc), Acc, patterns()) -> Acc.
fold(Fun, Init, Patterns) ->
    maps:fold(fun(M, Fs, Acc) ->
                      maps:fold(fun({F, A}, Kind, Acc1) -> Fun({M, F, A}, Kind, Acc1) end, Acc, Fs)
              end, Init, Patterns).

%% ---- setting them ----------------------------------------------------------------------------

%% @doc Set the patterns On. Stay: those that are set already and stay. IsFree: may we change the
%% pattern of a function that is in neither? Touch is called with such functions before we do.
-spec on(patterns(), patterns(), {is_free(), Touch :: fun((patterns()) -> term())}, set()) -> ok.
on(On, Stay, {IsFree, Touch}, Set) ->
    Plans = [plan(M, Fs, maps:get(M, Stay, #{}), IsFree) || {M, Fs} <- maps:to_list(On)],
    Kind = most([K || {whole, {_, K}, _, _, _} <- Plans]),
    Whole = [Plan || {whole, {_, K}, _, _, _} = Plan <- Plans, K =:= Kind],
    Rest = maps:from_list([{M, R} || {whole, {M, _}, _, _, R} <- Plans, map_size(R) > 0]),
    case map_size(Stay) =:= 0 andalso others(Whole, IsFree) of
        false ->
            Touch(Rest),
            lists:foreach(fun(Plan) -> set(Plan, Set) end, Plans);
        Others ->
            More = maps:map(fun(_, Fs) -> maps:from_keys(Fs, Kind) end, Others),
            Touch(merge(without(On, More), Rest)),
            set_on({'_', '_', '_'}, Kind, Set),
            [set_off({M, '_', '_'}, Kind, Set) || M <- maps:keys(Others)],
            [set_rest(Plan, Set) || Plan <- Whole],
            lists:foreach(fun(Plan) -> set(Plan, Set) end, [P || P <- Plans, not is_in(P, Kind)])
    end.

is_in({whole, {_, K}, _, _, _}, Kind) -> K =:= Kind;
is_in({each, _}, _) -> false.

%% The functions of all other modules, if these are few and all their functions are free.
others(Whole, IsFree) ->
    Done = maps:from_list([{M, true} || {whole, {M, _}, _, _, _} <- Whole]),
    Others = [M || M <- erlang:loaded(), not is_map_key(M, Done)],
    length(Whole) > max(?MANY, 1 + length(Others)) andalso begin
        Fs = [{M, functions(M, functions)} || M <- Others],
        lists:all(fun({M, L}) -> lists:all(fun({F, A}) -> IsFree({M, F, A}) end, L) end, Fs)
            andalso maps:from_list(Fs)
    end.

%% @doc Remove these patterns. IsBare: does a function have no pattern at all?
-spec off(patterns(), is_free(), set()) -> ok.
off(Off, IsBare, Set) ->
    case map_size(Off) > ?MANY andalso
        lists:all(fun(M) -> is_bare(M, maps:get(M, Off, #{}), IsBare) end, erlang:loaded()) of
        true ->
            Scopes = lists:usort(lists:append([scopes(Fs) || Fs <- maps:values(Off)])),
            lists:foreach(fun(S) -> Set({'_', '_', '_'}, false, [S]) end, Scopes);
        false ->
            maps:foreach(fun(M, Fs) -> module_off(M, Fs, IsBare, Set) end, Off)
    end.

module_off(M, Fs, IsBare, Set) ->
    case map_size(Fs) > 1 andalso is_bare(M, Fs, IsBare) of
        true -> [Set({M, '_', '_'}, false, [S]) || S <- scopes(Fs)];
        false -> [set_off(F, K, Set) || {F, K} <- by_name(M, Fs, functions(M, functions))]
    end.

scopes(Fs) ->
    lists:usort([scope(K) || K <- maps:values(Fs)]).

%% Nothing in the module has a pattern but what is removed.
is_bare(M, Off, IsBare) ->
    lists:all(fun({F, A} = Fn) -> is_map_key(Fn, Off) orelse IsBare({M, F, A}) end,
              functions(M, functions)).

%% {whole, {Module, Kind}, calls that remove, calls that set other kinds, the functions to remove},
%% or one by one.
plan(M, Fs, _, _) when map_size(Fs) =:= 1 ->
    {each, by_name(M, Fs, [])};
plan(M, Fs, Stay, IsFree) ->
    Kind = most(maps:values(Fs)),
    All = functions(M, functions),
    Hit = case Kind of global -> functions(M, exports); _ -> All end,
    Rest = maps:from_keys([F || F <- Hit, not is_map_key(F, Fs), not is_map_key(F, Stay)], Kind),
    Off = by_name(M, Rest, Hit),
    Other = by_name(M, maps:filter(fun(_, K) -> K =/= Kind end, Fs), All),
    %% A function that another handle traces must not lose its pattern even for a moment.
    Disturbs = map_size(Stay) > 0 andalso
        lists:any(fun(F) -> maps:get(F, Stay, Kind) =/= Kind end, All),
    Calls = 1 + length(Off) + length(Other),
    case Calls < map_size(Fs) andalso not Disturbs andalso
        lists:all(fun({F, A}) -> IsFree({M, F, A}) end, maps:keys(Rest)) of
        true when Calls =:= 1 -> {whole, {M, Kind}, [], [], #{}};
        Whole ->
            case by_name(M, Fs, All) of
                Each when Whole, Calls < length(Each) -> {whole, {M, Kind}, Off, Other, Rest};
                Each -> {each, Each}
            end
    end.

%% One call for all functions of a name, if all arities are wanted.
by_name(M, Fs, _) when map_size(Fs) < 2 ->
    [{{M, F, A}, K} || {{F, A}, K} <- maps:to_list(Fs)];
by_name(M, Fs, All) ->
    Names = lists:foldl(fun({F, _}, Ns) -> Ns#{F => maps:get(F, Ns, 0) + 1} end, #{}, All),
    Groups = maps:fold(fun({F, A}, K, Gs) ->
                               Fns = maps:get({F, K}, Gs, []),
                               Gs#{{F, K} => [{{M, F, A}, K} | Fns]}
                       end, #{}, Fs),
    maps:fold(fun({F, K}, [_, _ | _] = Fns, Calls) when length(Fns) =:= map_get(F, Names) ->
                      [{{M, F, '_'}, K} | Calls];
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

%% @doc What the VM gets as the pattern.
-spec pattern(kind()) -> true | [tuple()].
pattern(return) -> [{'_', [], [{return_trace}]}];
pattern(exception) -> [{'_', [], [{exception_trace}]}];
pattern(label) -> [{['$1'], [], [{message, '$1'}]}];
pattern(label_return) -> [{['$1'], [], [{message, '$1'}, {return_trace}]}];
pattern(label_exception) -> [{['$1'], [], [{message, '$1'}, {exception_trace}]}];
pattern(follow) -> follow([]);
pattern(follow_return) -> follow([{return_trace}]);
pattern(follow_exception) -> follow([{exception_trace}]);
pattern(_) -> true.

%% The label must be an immediate: the VM does not copy another term that a match specification
%% sets. The message tells that the token is new.
follow(More) ->
    Set = [{set_seq_token, label, erltrace_flow}, {set_seq_token, send, true},
           {set_seq_token, 'receive', true}],
    [{'_', [{'not', {is_seq_trace}}], Set ++ [{message, erltrace_flow} | More]},
     {'_', [], More}].

-spec scope(kind()) -> local | global | call_count.
scope(global) -> global;
scope(Kind) when Kind =:= count; Kind =:= fast -> call_count;
scope(_) -> local.

most(Kinds) ->
    Counts = lists:foldl(
        fun
            (K, Cs) when is_map_key(K, Cs) -> Cs#{K := map_get(K, Cs) + 1};
            % of one function only
            (_, Cs) -> Cs
        end,
        #{local => 0, global => 0, return => 0, exception => 0, count => 0, fast => 0},
        Kinds
    ),
    {_, Kind} = lists:max([{N, K} || {K, N} <- maps:to_list(Counts)]),
    Kind.

%% Not Module:module_info, which would load a module that has been deleted.
functions(M, What) ->
    try erlang:get_module_info(M, What)
    catch error:_ -> [] % it is not loaded
    end.
