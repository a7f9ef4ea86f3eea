%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc This node's probes, for a script that runs in the kernel: what its helper asks of the node
%% (c_src/helper/node_bridge.c). Events are handed over by a script inside the node, whose handle
%% belongs to the process that calls this, erltrace_kernel.
-module(erltrace_bridge).
-export([new/0, list/1, arm/3, news/1, spent/1, disarm/1]).
-export_type([bridge/0, failure/0]).

-record(bridge, {handle :: pid() | undefined, % of the script that hands events over
                 nif :: reference() | undefined, % likewise
                 spent = 0 :: non_neg_integer(), % ns, as it was last
                 ended = false :: boolean(),  % it has, by itself
                 lines = [] :: [binary()]}).  % not told yet
-opaque bridge() :: #bridge{}.
-type failure() :: {error, {binary(), integer(), integer(), binary()}}.

-spec new() -> bridge().
new() -> #bridge{}.

%% @doc The probes that a description names; none is no failure.
-spec list(binary()) -> {ok, [tuple()]} | failure().
list(Description) ->
    with_handle(fun(H) ->
                        case erltrace_handle:call(H, {probes, Description, full}) of
                            {ok, Probes} -> {ok, Probes};
                            {error, {dtrace, <<"D_PDESC_ZERO">>, _, _, _}} -> {ok, []};
                            Error -> failure(Error)
                        end
                end).

with_handle(Fun) ->
    case erltrace_handle:start(self()) of
        {ok, H, _} ->
            Result = Fun(H),
            erltrace_handle:close(H),
            Result;
        Error ->
            failure(Error)
    end.

%% @doc Run the script that hands events over. When this returns it traces.
-spec arm(binary(), [{binary(), binary()}], bridge()) -> {ok, bridge()} | {failure(), bridge()}.
arm(Script, Options, Bridge) ->
    case erltrace_handle:start(self()) of
        {ok, H, _} ->
            Requests = [{setopt, Name, Value} || {Name, Value} <- Options] ++
                [{compile, Script, [], [{file, <<"events.d">>}]}, go],
            case erltrace_handle:calls(H, Requests) of
                ok ->
                    {ok, Bridge#bridge{handle = H, nif = erltrace_handle:call(H, nif)}};
                Error ->
                    erltrace_handle:close(H),
                    {failure(Error), Bridge}
            end;
        Error ->
            {failure(Error), Bridge}
    end.

%% @doc A line that the script's user should see; `ended': there will be no more, nor events.
-spec news(bridge()) -> {binary() | none | ended, bridge()}.
news(#bridge{lines = [Line | Lines]} = Bridge) ->
    {Line, Bridge#bridge{lines = Lines}};
news(#bridge{handle = undefined, ended = Ended} = Bridge) ->
    {case Ended of true -> ended; false -> none end, Bridge};
news(#bridge{handle = H} = Bridge) ->
    case erltrace_handle:call(H, {work, text}) of
        {ok, Items} ->
            told(Items, [], none, Bridge);
        {done, Items} ->
            told(Items, [], ended, disarm(Bridge#bridge{ended = true}));
        {error, _} = Error ->
            {error, {_, _, _, Text}} = failure(Error),
            told([], [<<"processing aborted: ", Text/binary>>], ended,
                 disarm(Bridge#bridge{ended = true}))
    end.

told(Items, More, Otherwise, Bridge) ->
    case lines(Items) ++ More of
        [] -> {Otherwise, Bridge};
        [Line | Lines] -> {Line, Bridge#bridge{lines = Lines}}
    end.

lines(Items) ->
    lists:append([case Item of
                      {drop, _, _, Text} -> [Text];
                      {fault, Text} -> [Text];
                      {warning, Text} -> [Text];
                      _ -> []
                  end || Item <- Items]).

%% @doc ns of processor time that handing events over has taken. It waits for nobody.
-spec spent(bridge()) -> non_neg_integer().
spent(#bridge{nif = undefined, spent = Spent}) ->
    Spent;
spent(#bridge{nif = Nif, spent = Before}) ->
    case erltrace_nif:spent(Nif) of
        {Spent, _, _} -> Spent;
        closed -> Before
    end.

-spec disarm(bridge()) -> bridge().
disarm(#bridge{handle = undefined} = Bridge) ->
    Bridge;
disarm(#bridge{handle = H} = Bridge) ->
    Spent = spent(Bridge),
    erltrace_handle:close(H),
    Bridge#bridge{handle = undefined, nif = undefined, spent = Spent}.

failure({error, {dtrace, Tag, Line, Column, Text}}) ->
    {error, {Tag, Line, Column, Text}};
failure({error, _} = Error) ->
    {error, {<<"ET_NODE">>, 0, 0, unicode:characters_to_binary(erltrace:format_error(Error))}}.
