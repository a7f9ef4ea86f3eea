%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc Who waits for whom: processes that wait for the answer to a call of gen_server, gen_statem
%% or whatever else uses gen:call/4; or of the code server or the loader of files, which have calls
%% of their own: that is where a call of a function waits whose module is not loaded. For
%% state:::wait (erltrace_objects).
%%
%% Such a process is in gen:do_call/4, or suspended in sending from there, and has a monitor on the
%% one that it has called. Where it has other monitors as well, its stack says which: the callee, or
%% its name, is a variable of the function that made the call. To see it, the process is traced for
%% a moment (c_src/beam/state/top_words.c); before OTP 27 that is not possible while somebody traces
%% it, and the callee is not known then.
%%
%% Processes are asked one after the other, so what they say is not of one instant: a cycle may have
%% never been. It is a deadlock only if its members are asked again when all have answered, and none
%% has run in between: there was an instant then when all of them waited. The VM counts a reduction
%% for an answer, or none; to return from a call and make another takes many.
-module(erltrace_waits).
-export([may_call/1, call/1, callee/1, is_same/2, members/4, new_pass/1]).
-export_type([call/0]).

-define(LONGEST, 64). % calls of a chain
-define(ANSWERS, 3).  % reductions: for an answer, and for some to others. A call takes 15 and more
-define(LOOKS, 10).   % for a look at the stack
-define(MESSAGE, 9).  % for a message that the one who waits does not take

%% Callee: unknown, if it is one of several.
-opaque call() :: {Callee :: callee(), {
    Reductions :: non_neg_integer(), Mailbox :: non_neg_integer()
}}.
-type callee() :: pid() | {atom(), node()} | unknown.

%% @doc Can a process that is in this function be in a call? While the connection to the callee's
%% node is busy, the process is suspended in a function that the VM continues the sending in.
-spec may_call(mfa() | term()) -> boolean().
may_call({gen, do_call, 4}) -> true;
may_call({erlang, bif_return_trap, 2}) -> true;
may_call({erts_internal, dsend_continue_trap, 1}) -> true;
may_call(Function) -> is_atom(server_in(Function)).

%% The server that who waits in this function has called.
server_in({code_server, call, 1}) -> code_server;
server_in({erl_prim_loader, request, 1}) -> erl_prim_loader;
server_in(_) -> {}.

%% @doc The call that a process waits for.
-spec call(pid()) -> call() | none.
call(Pid) ->
    case call_in(Pid) of
        true ->
            call_of(
                Pid,
                erltrace_askers:info(Pid, [
                    current_stacktrace, monitors, reductions, message_queue_len
                ])
            );
        false ->
            none
    end.

call_in(Pid) ->
    case erltrace_askers:info(Pid, current_function) of
        {_, Function} -> may_call(Function);
        _ -> false
    end.

call_of(Pid, [{_, [{gen, do_call, 4, _} | Stack]}, {_, Monitors}, {_, Reductions}, {_, Mailbox}]) ->
    case lists:usort([To || {process, To} <- Monitors, not is_ours(Stack)]) of
        [] -> none; % about to begin or to end
        [Callee] -> {local(Callee), {Reductions, Mailbox}};
        Several ->
            case on_stack(Pid, Several) of
                none -> none;
                Callee -> {local(Callee), {Reductions, Mailbox}}
            end
    end;
call_of(_, [{_, [{M, F, A, _} | Stack]}, _, {_, Reductions}, {_, Mailbox}]) ->
    case server_in({M, F, A}) of
        {} -> none;
        Server ->
            case is_ours(Stack) of
                true -> none;
                false -> {local({Server, node()}), {Reductions, Mailbox}}
            end
    end;
call_of(_, _) ->
    none.

%% Those who serve the script wait for each other too.
is_ours(Stack) ->
    lists:any(fun({M, _, _, _}) -> lists:prefix("erltrace", atom_to_list(M)) end, Stack).

local({Name, Node} = Callee) when Node =:= node() ->
    case whereis(Name) of
        Pid when is_pid(Pid) -> Pid;
        _ -> Callee
    end;
local(Callee) ->
    Callee.

-spec callee(call()) -> callee().
callee({Callee, _}) -> Callee.

%% @doc Is it the call that was seen before, or another one of the same callee? To return and call
%% again takes more reductions than to be asked, and to look at messages that are not the answer.
-spec is_same(Before :: call(), call()) -> boolean().
is_same({Callee, {Before, Had}}, {Callee, {Reductions, Has}}) ->
    Reductions - Before =< ?LOOKS + ?MESSAGE * max(0, Has - Had);
is_same(_, _) ->
    false.

%% ---- which of several ------------------------------------------------------------------------

%% Which of them is on the stack, the newest first. Of other nodes only one can be meant. none: the
%% call is over.
on_stack(Pid, Several) ->
    Words = erltrace_vm:locked(fun() -> words(Pid) end),
    Local = [P || W <- Words, P <- pids_of(W), lists:member(P, Several)],
    Others = [C || C <- Several, is_of_another_node(C)],
    case {call_in(Pid), Local, Others} of
        {true, [Callee | _], _} -> Callee;
        {true, [], [Callee]} when Words =/= [] -> Callee;
        {true, _, _} -> unknown;
        _ -> none
    end.

pids_of(Pid) when is_pid(Pid) -> [Pid];
pids_of(Name) -> [whereis(Name) | try [global:whereis_name(Name)] catch _:_ -> [] end].

is_of_another_node(Pid) when is_pid(Pid) -> node(Pid) =/= node();
is_of_another_node({_, Node}) -> Node =/= node().

%% It answers, and for that it is scheduled in first.
words(Pid) ->
    erltrace_nif:top_words(start),
    case erltrace_vm:has_sessions() of
        true ->
            S = apply(trace, session_create, [erltrace, {erltrace_nif, top_words}, []]),
            _ = erltrace_vm:attempt(trace, process, [S, Pid, true, [running_procs]]),
            _ = erltrace_askers:info(Pid, monitors),
            erltrace_vm:end_session(S);
        false ->
            case erltrace_askers:info(Pid, trace) of
                {trace, 0} ->
                    Flags = [running_procs, {tracer, erltrace_nif, top_words}],
                    _ = erltrace_vm:attempt(erlang, trace, [Pid, true, Flags]),
                    _ = erltrace_askers:info(Pid, monitors),
                    erltrace_vm:attempt(erlang, trace, [Pid, false, Flags]);
                _ ->
                    ok
            end
    end,
    erltrace_nif:top_words(get).

%% ---- members ---------------------------------------------------------------------------------

%% @doc In a new pass what is known of callees is asked anew.
-spec new_pass(Pass :: term()) -> ok.
new_pass(Pass) ->
    get(?MODULE) =:= Pass orelse begin
        _ = [erase(K) || {What, _} = K <- get_keys(), What =:= ?MODULE],
        put(?MODULE, Pass)
    end,
    ok.

%% @doc Values of these members, for a process that waits.
-spec members([erltrace_objects:wait_member()], pid(), call(), Age :: non_neg_integer()) ->
    [term()].
members(Members, Pid, {Callee, _}, Age) ->
    Chain = case [M || M <- Members, lists:member(M, [chain, calls, deadlock])] of
                [] -> none;
                _ -> chain(Pid, Callee)
            end,
    [member(M, Pid, Callee, Chain, Age) || M <- Members].

-spec member(erltrace_objects:wait_member(), pid(), callee(), none | tuple(), non_neg_integer()) ->
    term().
member(pid, Pid, _, _, _) -> Pid;
member(name, Pid, _, _, _) -> called(Pid);
member(callee, _, Callee, _, _) -> text(Callee);
member(callee_name, _, Callee, _, _) -> name_of(Callee);
member(node, _, Callee, _, _) -> node_of(Callee);
member(callee_function, _, Callee, _, _) -> info(Callee, current_function, <<>>);
member(mailbox, _, Callee, _, _) -> info(Callee, message_queue_len, 0);
member(chain, _, _, {Names, _, _}, _) -> Names;
member(calls, _, _, {_, N, _}, _) -> N;
member(deadlock, _, _, {_, _, Deadlock}, _) -> Deadlock;
member(suspended, Pid, _, _, _) ->
    case erltrace_askers:info(Pid, status) of
        {_, suspended} -> 1;
        _ -> 0
    end;
member(age, _, _, _, Age) -> Age.

text(unknown) -> <<>>;
text(Pid) when is_pid(Pid) -> list_to_binary(pid_to_list(Pid));
text(Remote) -> erltrace_process_name:text({label, Remote}).

name_of(Pid) when is_pid(Pid), node(Pid) =:= node() -> called(Pid);
name_of(unknown) -> <<"?">>;
name_of(Callee) -> text(Callee).

node_of(unknown) -> <<>>;
node_of(Pid) when is_pid(Pid) -> node(Pid);
node_of({_, Node}) -> Node.

info(Pid, Item, None) when is_pid(Pid), node(Pid) =:= node() ->
    case erltrace_askers:info(Pid, Item) of
        {_, V} -> V;
        silent when Item =:= current_function -> <<"(does not answer)">>;
        _ -> None
    end;
info(_, _, None) ->
    None.

%% ---- chains ----------------------------------------------------------------------------------

%% Names, number of calls, 1 if it is a cycle, 2 if it leads to one, else 0.
chain(Pid, Callee) ->
    case follow(Callee, [Pid]) of
        {ends, Path} ->
            {names(lists:reverse(Path)), length(Path) - 1, 0};
        {cycle, Again, Path} -> % the newest first; it calls one that is in it
            {Behind, Cycle} = lists:splitwith(fun(P) -> P =/= Again end, lists:reverse(Path)),
            case {is_deadlock(Cycle), Behind} of
                {false, _} -> {names(lists:reverse([Again | Path])), length(Path), 0};
                {true, []} -> {names(round_trip(Cycle)), length(Cycle), 1};
                {true, _} -> {names(Behind ++ Cycle ++ [Again]), length(Path), 2}
            end
    end.

%% All its members show it in the same way.
round_trip(Cycle) ->
    {Before, [First | After]} = lists:splitwith(fun(P) -> P =/= lists:min(Cycle) end, Cycle),
    [First | After] ++ Before ++ [First].

follow(Callee, Path) when not is_pid(Callee); node(Callee) =/= node(); length(Path) > ?LONGEST ->
    {ends, [Callee | Path]};
follow(Callee, Path) ->
    case lists:member(Callee, Path) of
        true -> {cycle, Callee, Path};
        false ->
            case known(Callee, fun() -> call(Callee) end) of
                none -> {ends, [Callee | Path]};
                {Next, _} -> follow(Next, [Callee | Path])
            end
    end.

%% Many may wait for one: it is asked once in a pass.
known(Key, Fun) ->
    case get({?MODULE, Key}) of
        undefined -> V = Fun(), _ = put({?MODULE, Key}, V), V;
        V -> V
    end.

is_deadlock(Cycle) ->
    known({cycle, lists:sort(Cycle)}, fun() -> stands(Cycle) end).

stands(Cycle) ->
    Calls = [call(P) || P <- Cycle],
    Before = [reductions(P) || P <- Cycle],
    After = [reductions(P) || P <- Cycle],
    calls_next(Cycle, Calls) andalso
        have_not_run([N || {_, {N, _}} <- Calls], Before, ?LOOKS) andalso
        have_not_run(Before, After, ?ANSWERS).

reductions(Pid) ->
    case erltrace_askers:info(Pid, reductions) of
        {_, N} -> N;
        _ -> gone % or it does not answer
    end.

have_not_run(Before, After, Most) ->
    lists:all(fun({B, A}) -> is_integer(A) andalso A - B =< Most end, lists:zip(Before, After)).

%% Each calls the next one, the last one the first.
calls_next([First | Rest], Calls) ->
    lists:all(fun({P, {P, _}}) -> true; (_) -> false end, lists:zip(Rest ++ [First], Calls)).

names(Path) ->
    iolist_to_binary(lists:join(<<" -> ">>, [erltrace_process_name:text(name_of(P)) || P <- Path])).

%% ---- what processes are called ---------------------------------------------------------------

called(Pid) ->
    known({name, Pid}, fun() -> ask_name(Pid) end).

ask_name(Pid) ->
    erltrace_process_name:shown(
        Pid, erltrace_process_name:ask(Pid, erltrace_process_name:has_labels())
    ).
