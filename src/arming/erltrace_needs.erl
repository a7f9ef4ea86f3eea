%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc What the enabled probes of a script need of the node, as the library says it
%% (c_src/beam/nif/arming.c): flags and values, from the table c_src/beam/needs.def, and functions.
%% A name that is not in the table is an error here, and one of dialyzer's.
-module(erltrace_needs).
-export([has/2, value/2, patterns/1, serves/1]).
-export_type([needs/0, need/0, pattern/0, flag/0, key/0, value/0]).
-include("build/erltrace_needs.hrl").

-type pattern() :: {erltrace_patterns:kind(), module(), atom(), arity()}.
-type need() ::
    flag()
    | value()
    | pattern()
    % cannot go the fast way
    | {traced, module(), atom(), arity(), Why :: binary()}
    | {state, Number :: non_neg_integer(), erltrace_objects:kind() | round | key,
        Period :: non_neg_integer(), [erltrace_objects:member()],
        First :: [erltrace_objects:member()] | none}.
-type needs() :: [need()].

-spec has(flag(), needs()) -> boolean().
has(Need, Needs) when ?IS_FLAG(Need) ->
    lists:member(Need, Needs).

-spec value(key(), needs()) -> term() | undefined.
value(Need, Needs) when ?IS_KEY(Need) ->
    proplists:get_value(Need, Needs).

%% @doc Functions to arm, by whichever way.
-spec patterns(needs()) -> [pattern()].
patterns(Needs) ->
    [N || {_, _, _, _} = N <- Needs].

%% @doc Is it there for other events only?
-spec serves(need()) -> boolean().
serves(Need) ->
    lists:member(Need, ?SERVING).
