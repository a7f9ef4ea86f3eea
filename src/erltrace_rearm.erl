%% SPDX-License-Identifier: Apache-2.0
%% @private
%% Modules that are loaded while a script runs: their functions get the probes that the script's
%% descriptions name. And modules that are loaded again: the VM sets no breakpoint in new code.
%%
%% Nothing tells of that without tracing the code server, which may be traced by others. So every
%% ?EVERY ms the handle's process looks which modules there are that it has not seen, and asks of
%% one armed function in each armed module whether it is armed still.
-module(erltrace_rearm).
-export([new/3, look/4, every/0]).
-export_type([rearm/0]).

-define(EVERY, 100).

-record(rearm, {seen = #{}, armed = #{}}).
-opaque rearm() :: #rearm{}.

%% @doc ms between two looks.
-spec every() -> pos_integer().
every() -> ?EVERY.

%% @doc Seen: the modules that were there when the script was compiled; Patterns: what is armed.
-spec new([module()], [term()], erltrace_vm:armed()) -> rearm().
new(Seen, Patterns, Armed) ->
    #rearm{seen = maps:from_keys(Seen, true), armed = samples(Armed, Patterns)}.

%% One function of each module that can be seen to be armed: not every one is ([global] arms what
%% is exported).
samples(Armed, Patterns) ->
    lists:foldl(fun({_, M, F, A}, Samples) ->
                        case not is_map_key(M, Samples) andalso
                            erltrace_vm:is_traced(Armed, {M, F, A}) of
                            true -> Samples#{M => {M, F, A}};
                            false -> Samples
                        end
                end, #{}, Patterns).

%% @doc Arm what has come since the last look.
-spec look(reference(), rearm(), erltrace_vm:armed(), erltrace_counters:counters()) ->
          {rearm(), erltrace_vm:armed(), erltrace_counters:counters()}.
look(Nif, #rearm{seen = Seen, armed = Mine} = Rearm, Armed, Counters) ->
    Loaded = erlang:loaded(),
    New = [M || M <- Loaded, not is_map_key(M, Seen), M =/= erltrace_nif,
                erltrace_nif:wants(Nif, M)],
    Again = [M || {M, MFA} <- maps:to_list(Mine), not erltrace_vm:is_traced(Armed, MFA)],
    Rearm1 = Rearm#rearm{seen = maps:from_keys(Loaded, true), armed = maps:without(Again, Mine)},
    {Lost, Counters1} = erltrace_counters:lost(Counters),
    Modules = lists:usort(New ++ Again ++ Lost),
    All = lists:append([extend(Nif, M) || M <- Modules]),
    case erltrace_counters:add(Modules, All, Counters1) of
        {[], Counters2} ->
            {Rearm1, Armed, Counters2};
        {Patterns, Counters2} ->
            Armed1 = erltrace_vm:rearm(Armed, Patterns),
            {Rearm1#rearm{armed = maps:merge(Rearm1#rearm.armed, samples(Armed1, Patterns))}, Armed1,
             Counters2}
    end.

%% Without a function it has been deleted: it is new when it comes again.
extend(Nif, Module) ->
    case erltrace_compile:functions(Module) of
        [] -> [];
        Functions ->
            case erltrace_nif:extend(Nif, Module, Functions) of
                Patterns when is_list(Patterns) ->
                    There = maps:from_list([{{F, A}, true} || {F, A, _} <- Functions]),
                    [P || {_, _, F, A} = P <- Patterns, is_map_key({F, A}, There)];
                {error, _} -> []
            end
    end.
