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
%%
%% Processes are asked by a process of this module, a gen_server, whose memory goes with it: before
%% OTP 27 they answer with their whole dictionaries. It starts before tracing begins and is
%% sensitive, so scripts do not see it. Who is asked runs for a moment, which scripts would see: so
%% only those are asked again that were not there the first time. (A label that is set in between is
%% seen when it is set again.) If a process does not answer, the script starts without its name, and
%% those of the rest come later.
-module(erltrace_names).
-behaviour(gen_server).
-export([fill/3, renew/2]).
-export([answer/3]). % for erltrace_wanted
-export([init/1, handle_continue/2, handle_call/3, handle_cast/2, handle_info/2, code_change/3,
         format_status/1]).
-export_type([names/0, keys/0]).

-define(BATCH, 100). % processes asked at a time
-define(WAIT, 3000). % ms; a process that does not answer must not hold up the script
-define(MOST, 60000). % ms between both rounds

-record(names, {registered = [] :: [{atom(), pid() | port() | undefined}],
                asker :: pid() | undefined}).
-opaque names() :: #names{}.
-type keys() :: [atom() | {dictionary, atom()}]. % of process_info/2

-record(st, {nif :: reference(),
             keys :: keys(),
             before = [] :: [pid()]}). % which were asked

%% @doc Before tracing begins.
-spec fill(reference(), erltrace_needs:needs(), Sup :: pid()) -> names().
fill(Nif, Needs, Sup) ->
    Keys = erltrace_process_name:keys(not erltrace_needs:has(no_labels, Needs)),
    WhileItRuns = erltrace_needs:has(ask_names, Needs),
    _ = WhileItRuns andalso erltrace_handle_sup:start_helper(Sup, erltrace_wanted, {Nif, Keys}),
    Names = #names{
        registered = [add_name(Nif, N) || erltrace_needs:has(names, Needs), N <- registered()],
        asker =
            case WhileItRuns orelse erltrace_needs:has(proc_names, Needs) of
                true -> start_asker(Sup, Nif, Keys);
                false -> undefined
            end
    },
    % samples have been waiting for it
    _ = erltrace_nif:named(Nif),
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

start_asker(Sup, Nif, Keys) ->
    case erltrace_handle_sup:start_helper(Sup, ?MODULE, {Nif, Keys}) of
        {ok, Asker} -> wait_for(asked, Asker), Asker;
        {error, shutdown} -> undefined
    end.

ask_again(Asker) ->
    wait_for(again, Asker).

%% Not for long; if it was killed, for nothing.
wait_for(What, Asker) ->
    try gen_server:call(Asker, What, ?WAIT)
    catch exit:_ -> ok
    end.

-spec init({Sup :: pid(), {reference(), keys()}}) -> {ok, #st{}, {continue, ask}}.
init({_, {Nif, Keys}}) ->
    process_flag(sensitive, true),
    {ok, #st{nif = Nif, keys = Keys}, {continue, ask}}.

%% There may be very many, and the node has other work.
-spec handle_continue(ask, #st{}) -> {noreply, #st{}}.
handle_continue(ask, #st{nif = Nif, keys = Keys} = St) ->
    process_flag(priority, normal),
    Before = processes(),
    ask(Nif, Keys, Before),
    {noreply, St#st{before = Before}}.

-spec handle_call(term(), gen_server:from(), #st{}) ->
          {reply, term(), #st{}, timeout()} | {stop, normal, ok, #st{}}.
handle_call(asked, _, St) ->
    {reply, ok, St, ?MOST};
handle_call(again, _, #st{nif = Nif, keys = Keys, before = Before} = St) ->
    Now = processes(),
    erltrace_nif:fill_names(Nif, Before -- Now), % they have ended
    ask(Nif, Keys, Now -- Before),
    {stop, normal, ok, St};
handle_call(_, _, St) ->
    {reply, {error, unknown}, St, ?MOST}.

-spec handle_cast(term(), #st{}) -> {noreply, #st{}}.
handle_cast(_, St) ->
    {noreply, St}.

-spec handle_info(term(), #st{}) -> {noreply, #st{}} | {stop, normal, #st{}}.
handle_info(timeout, St) -> % it could not be armed
    {stop, normal, St};
handle_info(_, St) ->
    {noreply, St}.

-spec code_change(term(), #st{}, term()) -> {ok, #st{}}.
code_change(_, St, _) ->
    {ok, St}.

-spec format_status(gen_server:format_status()) -> gen_server:format_status().
format_status(#{state := #st{before = Before}} = Status) ->
    Status#{state := #{asked => length(Before)}};
format_status(Status) ->
    Status.

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

%% @doc For fill_names/2: what process_info/2 has answered to these keys.
-spec answer(pid(), Token :: term(), [tuple()] | undefined) -> pid() | tuple().
answer(Pid, _, undefined) -> % it has ended
    Pid;
answer(Pid, Token, Info) ->
    {Label, Call} = erltrace_process_name:label_and_call(Info),
    {Pid, Token, Call, Label}.

