%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc The names of processes that a script shows: registered names (c_src/beam/proc/registered.c),
%% and what processes without one are called (c_src/beam/proc/proc_names.c). Events report them when
%% they change; what there is when a script starts is told here: before tracing begins, so that the
%% first events find it, and again afterwards, because no event reports what changes in between.
%%
%% Where processes are not traced, events find the registered name in the process itself
%% (c_src/beam/vm/own_name.c). Those that are spawned while the script runs are asked what they are
%% called once they have fired.
-module(erltrace_names).
-export([fill/2, renew/2, layout/0]).
-export_type([names/0]).

-define(BATCH, 100). % processes asked at a time
-define(WAIT, 3000). % ms; a process that does not answer must not hold up the script
-define(MOST, 60000). % ms between both rounds
-define(EVERY, 100). % ms, where processes are asked while the script runs

-record(names, {registered = [] :: [{atom(), pid() | port() | undefined}],
                asker :: {pid(), reference()} | undefined}).
-opaque names() :: #names{}.

%% @doc Before tracing begins.
-spec fill(reference(), erltrace_needs:needs()) -> names().
fill(Nif, Needs) ->
    Keys = erltrace_process_name:keys(not erltrace_needs:has(no_labels, Needs)),
    erltrace_needs:has(ask_names, Needs) andalso start_asking(Nif, Keys),
    Names = #names{registered = [add_name(Nif, N) || erltrace_needs:has(names, Needs), N <- registered()],
                   asker = case erltrace_needs:has(proc_names, Needs) orelse erltrace_needs:has(ask_names, Needs) of
                               true -> start_asker(Nif, Keys);
                               false -> undefined
                           end},
    _ = erltrace_nif:named(Nif), % samples have been waiting for it
    Names.

%% @doc From now on events report changes; here is what changed since fill/2.
-spec renew(reference(), names()) -> ok.
renew(Nif, #names{registered = Registered, asker = Asker}) ->
    Registered =:= [] orelse renew_registered(Nif, Registered),
    Asker =:= undefined orelse ask_again(Asker),
    ok.

add_name(Nif, Name) ->
    Pid = whereis(Name),
    Pid =:= undefined orelse erltrace_nif:set_name(Nif, Pid, Name, true),
    {Name, Pid}.

renew_registered(Nif, Names) ->
    [erltrace_nif:set_name(Nif, Pid, Name, false) ||
        {Name, Pid} <- Names, Pid =/= undefined, whereis(Name) =/= Pid],
    [add_name(Nif, Name) || Name <- registered()].

%% ---- what processes are called ---------------------------------------------------------------

%% Processes are asked by a process of its own, whose memory goes with it: before OTP 27 they answer
%% with their whole dictionaries. It starts before tracing begins and is sensitive, so scripts do not
%% see it. Who is asked runs for a moment, which scripts would see: so only those are asked again that
%% were not there the first time. (A label that is set in between is seen when it is set again.) If a
%% process does not answer, the script starts without its name, and those of the rest come later.
start_asker(Nif, Keys) ->
    Parent = self(),
    {Asker, Mon} = spawn_monitor(fun() -> asker(Nif, Keys, Parent) end),
    receive {Asker, asked} -> ok;
            {'DOWN', Mon, process, Asker, _} -> ok
    after ?WAIT -> ok
    end,
    {Asker, Mon}.

ask_again({Asker, Mon}) ->
    Asker ! again,
    receive {'DOWN', Mon, process, Asker, _} -> ok
    after ?WAIT -> ok
    end,
    erlang:demonitor(Mon, [flush]).

asker(Nif, Keys, Parent) ->
    process_flag(sensitive, true),
    Mon = erlang:monitor(process, Parent),
    Before = processes(),
    ask(Nif, Keys, Before),
    Parent ! {self(), asked},
    receive
        again ->
            Now = processes(),
            erltrace_nif:fill_names(Nif, Before -- Now), % they have ended
            ask(Nif, Keys, Now -- Before);
        {'DOWN', Mon, process, Parent, _} ->
            ok
    after ?MOST -> % it could not be armed
            ok
    end.

ask(_, _, []) ->
    ok;
ask(Nif, Keys, Pids) ->
    {Some, Rest} = lists:split(min(?BATCH, length(Pids)), Pids),
    case erltrace_nif:claim_names(Nif, Some) of
        Tokens when is_list(Tokens) ->
            erltrace_nif:fill_names(Nif, [answer(P, T, process_info(P, Keys)) ||
                                             {P, T} <- lists:zip(Some, Tokens)]),
            erlang:yield(),
            ask(Nif, Keys, Rest);
        _ ->
            ok % it is closed
    end.

answer(Pid, _, undefined) -> % it has ended
    Pid;
answer(Pid, Token, Info) ->
    {Label, Call} = erltrace_process_name:label_and_call(Info),
    {Pid, Token, Call, Label}.

%% ---- processes that are not traced -----------------------------------------------------------

%% Ends with the script, or with the handle's process. The library limits how many are asked at a
%% time (BEAM_WANTED).
start_asking(Nif, Keys) ->
    Parent = self(),
    spawn(fun() ->
                  process_flag(sensitive, true),
                  asking(Nif, erlang:monitor(process, Parent), Keys)
          end).

asking(Nif, Mon, Keys) ->
    case wanted(Nif) of
        Wanted when is_list(Wanted) ->
            _ = Wanted =/= [] andalso
                erltrace_nif:fill_names(Nif, [answer(P, T, process_info(P, Keys)) ||
                                                 {P, T} <- Wanted]),
            receive {'DOWN', Mon, process, _, _} -> ok
            after ?EVERY -> asking(Nif, Mon, Keys)
            end;
        _ ->
            ok
    end.

wanted(Nif) ->
    try erltrace_nif:wanted_names(Nif)
    catch error:badarg -> done % another library has been loaded
    end.

%% @doc Find out, once per node, where the VM keeps the name of a process
%% (c_src/beam/vm/own_name.c).
-spec layout() -> ok | unknown.
layout() ->
    erltrace_vm:find_out(fun erltrace_nif:name_layout/1, fun check/1).

check(ok) ->
    erltrace_nif:name_layout(get) =:= undefined andalso begin
        erltrace_nif:name_layout(start),
        %% The lock is a name: another process is looked at.
        {P, M} = spawn_monitor(fun look_at_names/0),
        receive {'DOWN', M, process, P, _} -> erltrace_nif:name_layout(check) end
    end;
check(names) ->
    erltrace_nif:name_layout(refuse).

look_at_names() ->
    process_flag(sensitive, true),
    Names = [erltrace_name_1, erltrace_name_2, erltrace_name_1, erltrace_name_3],
    [look_at_name(sample, Name) || Name <- Names],
    true = erltrace_nif:name_layout(words),
    [look_at_name(look, Name) || Name <- Names].

look_at_name(What, Name) ->
    ok = erltrace_nif:name_layout({sample, undefined}),
    true = register(Name, self()),
    ok = erltrace_nif:name_layout({What, Name}),
    true = unregister(Name).
