%% SPDX-License-Identifier: Apache-2.0
%% @private
%% Modules that are loaded while a script runs. A new module gets the probes that the script's
%% descriptions name. A module that is loaded again is armed again: the VM sets no breakpoints in
%% new code.
%%
%% The only event for this would come from tracing the code server, which others may trace. So the
%% handle's process polls every ?INTERVAL ms: which modules has it not seen yet, and, for one
%% function of each armed module, is that function still armed?
%%
%% When a trace session ends, anybody's, OTP 27 forgets of all BIFs that they are traced, although
%% their breakpoints stay. Which sessions there are is looked at too: if one has gone, BIFs are
%% armed again.
-module(erltrace_rearm).
-export([new/3, poll/4, interval/0]).
-export_type([rearm/0]).

-define(INTERVAL, 100).

-record(rearm, {known = [] :: [module()], % all that are loaded, as the VM lists them
                samples = #{} :: samples(), % one function of each armed module
                % patterns of modules that have them, where the VM may forget them
                bifs = [] :: [term()],
                sessions = none :: none | {integer(), [term()]}}).
-opaque rearm() :: #rearm{}.
-type samples() :: #{module() => {atom(), mfa()}}.
-type both() :: {erltrace_vm:armed(), erltrace_fastcalls:fast()}.

%% @doc ms between two polls.
-spec interval() -> pos_integer().
interval() -> ?INTERVAL.

%% @doc Known: the modules that were loaded when the script was compiled; Patterns: what is armed.
-spec new([module()], [term()], both()) -> rearm().
new(Known, Patterns, Armed) ->
    add_bifs(Patterns, #rearm{known = Known, samples = samples(Armed, Patterns)}).

%% Functions of a module are armed all at once: others of the module would be off.
add_bifs(Patterns, #rearm{bifs = Old} = Rearm) ->
    Has = maps:from_keys(
        [M || forgets_bifs(), {_, M, F, A} <- Patterns, erlang:is_builtin(M, F, A)], true
    ),
    Rearm#rearm{
        bifs = lists:usort([P || {_, M, _, _} = P <- Patterns, is_map_key(M, Has)] ++ Old)
    }.

forgets_bifs() -> erltrace_vm:has_sessions() andalso erlang:system_info(otp_release) < "29".

sessions([]) -> none;
sessions(_) -> erltrace_vm:sessions().

%% One function of each module. A module that was loaded again while it was being armed has
%% functions that are not armed: one of those, so that the next poll arms the module again.
-spec samples(both(), [term()]) -> samples().
samples(Armed, Patterns) ->
    {Missed, Shown} =
        lists:foldl(fun({_, M, _, _}, {Missed, _} = Acc) when is_map_key(M, Missed) -> Acc;
                       ({Kind, M, F, A}, {Missed, Shown}) ->
                            Sample = {Kind, {M, F, A}},
                            case is_armed(Armed, Sample) of
                                true -> {Missed, Shown#{M => Sample}};
                                false -> {missed(Armed, Sample, Missed), Shown}
                            end
                    end, {#{}, #{}}, Patterns),
    maps:merge(Shown, Missed).

missed(Armed, {_, {M, _, _}} = Sample, Missed) ->
    case can_be_armed(Armed, Sample) of
        true -> Missed#{M => Sample};
        false -> Missed
    end.

%% [global] arms only functions that are exported.
can_be_armed(_, {global, {M, F, A}}) -> erlang:function_exported(M, F, A);
can_be_armed({_, Fast}, {fast, MFA}) -> erltrace_fastcalls:can_be_armed(Fast, MFA);
can_be_armed(_, _) -> true.

is_armed({_, Fast}, {fast, MFA}) -> erltrace_fastcalls:is_armed(Fast, MFA);
is_armed({Armed, _}, {_, MFA}) -> erltrace_vm:is_traced(Armed, MFA).

%% @doc Arm what has been loaded since the last poll.
-spec poll(reference(), rearm(), both(), erltrace_counters:counters()) ->
          {rearm(), both(), erltrace_counters:counters()}.
poll(Nif, #rearm{known = Known, samples = Samples, bifs = Bifs} = Old, {Traced, Fast}, Counters) ->
    Sessions = sessions(Bifs),
    Armed = arm_bifs(Old, Sessions, {Traced, renew(Fast)}),
    Loaded = erlang:loaded(),
    New = [M || M <- new_in(Loaded, Known), M =/= erltrace_nif, erltrace_nif:wants(Nif, M)],
    Reloaded = [M || {M, Sample} <- maps:to_list(Samples), not is_armed(Armed, Sample)],
    Rearm = Old#rearm{
        known = Loaded,
        samples = maps:without(Reloaded, Samples),
        sessions = Sessions
    },
    {Lost, Counters1} = erltrace_counters:lost(Counters),
    Modules = lists:usort(New ++ Reloaded ++ Lost),
    All = lists:append([extend(Nif, M) || M <- Modules]),
    case erltrace_counters:add(Modules, All, Counters1) of
        {[], Counters2} ->
            {Rearm, Armed, Counters2};
        {Patterns, Counters2} ->
            Armed1 = rearm(Armed, Patterns),
            Rearm1 = Rearm#rearm{
                samples = maps:merge(Rearm#rearm.samples, samples(Armed1, Patterns))
            },
            {add_bifs(Patterns, Rearm1), Armed1, Counters2}
    end.

%% Nearly always the list is the same.
new_in(Known, Known) -> [];
new_in(Loaded, Known) ->
    Old = maps:from_keys(Known, true),
    [M || M <- Loaded, not is_map_key(M, Old)].

arm_bifs(#rearm{bifs = []}, _, Armed) -> Armed;
arm_bifs(#rearm{bifs = Bifs, sessions = Before}, Now, Armed) ->
    case has_ended(Before, Now) of
        true -> rearm(Armed, Bifs);
        false -> Armed
    end.

has_ended(none, _) -> true; % maybe, while they were being armed
has_ended({Last, Before}, {NowLast, Now}) -> NowLast =/= Last orelse Before -- Now =/= [].

renew(undefined) -> undefined;
renew(Fast) -> erltrace_fastcalls:renew(Fast).

rearm({Armed, Fast}, Patterns) ->
    {Fasts, Others} = lists:partition(fun({Kind, _, _, _}) -> Kind =:= fast end, Patterns),
    {case Others of [] -> Armed; _ -> erltrace_vm:rearm(Armed, Others) end,
     erltrace_fastcalls:add(Fasts, Fast)}.

%% A module without functions has been deleted. It counts as new when it is loaded again.
extend(Nif, Module) ->
    case erltrace_compile:functions(Module) of
        [] -> [];
        Functions ->
            case erltrace_nif:extend(Nif, Module, Functions) of
                Patterns when is_list(Patterns) ->
                    Existing = maps:from_list([{{F, A}, true} || {F, A, _} <- Functions]),
                    [P || {_, _, F, A} = P <- Patterns, is_map_key({F, A}, Existing)];
                {error, _} -> []
            end
    end.
