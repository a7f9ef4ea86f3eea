%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc Garbage collections from OTP 27 on: one trace session for all handles. This process holds it
%% from the first handle that needs it to the last. Two sessions that trace garbage collections of
%% one process crash OTP 27 to 29 (erlang/otp#11624). If a session that is not ours traces them
%% already, we refuse to arm. If one starts after us, we can neither detect nor prevent it.
-module(erltrace_gc).
-behaviour(gen_server).
-export([join/1, add/2, leave/1]).
-export([init/1, handle_call/3, handle_cast/2, handle_info/2, terminate/2, code_change/3,
         format_status/1]).

-define(UNUSED, 10000). % ms: the process that started it was killed before it could join

-record(st, {session :: term(), % undefined until the first handle joins
             users = #{} :: #{pid() => Monitor :: reference()}}).

%% @doc Returns the process that holds the session, which traces these processes. The caller is a
%% user of it until it leaves or ends.
-spec join(all | [pid()]) -> pid() | {error, Tag :: binary(), Text :: binary()}.
join(Pids) ->
    erltrace_vm:locked(fun() ->
                               Server = erltrace_nif:kept(gc_server, undefined),
                               case call(Server, {join, Pids}) of
                                   joined -> Server;
                                   gone -> start(Pids)
                               end
                       end).

start(Pids) ->
    case is_traced() of
        true ->
            {error, <<"ET_GC_SESSION">>,
             <<"another trace session traces garbage_collection, and two of them in one process "
               "crash this release of OTP: end the other one first">>};
        false ->
            {ok, Server} = gen_server:start(?MODULE, [], []),
            ok = erltrace_nif:keep(gc_server, Server),
            case call(Server, {join, Pids}) of
                joined -> Server;
                gone -> start(Pids) % somebody killed it
            end
    end.

%% @doc A user wants these processes traced too.
-spec add(pid(), [pid()]) -> ok.
add(Server, Pids) ->
    _ = call(Server, {add, Pids}),
    ok.

%% @doc When the last user has left, the session and its process have ended.
-spec leave(pid()) -> ok.
leave(Server) ->
    _ = call(Server, leave),
    ok.

call(undefined, _) ->
    gone;
call(Server, What) ->
    try gen_server:call(Server, What, infinity)
    catch exit:_ -> gone
    end.

-spec init([]) -> {ok, #st{}, timeout()}.
init([]) ->
    erltrace_vm:leave_application(),
    process_flag(sensitive, true),
    process_flag(priority, high),
    {ok, #st{}, ?UNUSED}.

-spec handle_call({join, all | [pid()]} | {add, [pid()]} | leave, gen_server:from(), #st{}) ->
          {reply, joined | added | left, #st{}} | {stop, normal, #st{}}.
handle_call({join, Pids}, {Pid, _}, #st{session = undefined} = St) ->
    {reply, joined, add_user(Pid, St#st{session = erltrace_vm:gc_session(Pids)})};
handle_call({join, Pids}, {Pid, _}, #st{session = Session} = St) ->
    erltrace_vm:gc_trace(Session, Pids),
    {reply, joined, add_user(Pid, St)};
handle_call({add, Pids}, _, #st{session = Session} = St) ->
    erltrace_vm:gc_trace(Session, Pids),
    {reply, added, St};
handle_call(leave, {Pid, _}, #st{users = Users} = St) ->
    case maps:take(Pid, Users) of
        {Mon, Rest} when map_size(Rest) > 0 ->
            erlang:demonitor(Mon, [flush]),
            {reply, left, St#st{users = Rest}};
        _ -> % the caller sees us end: that is the reply
            {stop, normal, St}
    end.

-spec handle_cast(term(), #st{}) -> {noreply, #st{}}.
handle_cast(_, St) ->
    {noreply, St}.

-spec handle_info(term(), #st{}) -> {noreply, #st{}} | {stop, normal, #st{}}.
handle_info({'DOWN', _, process, Pid, _}, #st{users = Users} = St) ->
    case maps:remove(Pid, Users) of
        Rest when map_size(Rest) > 0 -> {noreply, St#st{users = Rest}};
        _ -> {stop, normal, St}
    end;
handle_info(timeout, #st{session = undefined} = St) ->
    {stop, normal, St};
handle_info(_, St) ->
    {noreply, St}.

%% The session ends first: a caller that finds no server starts another one.
-spec terminate(term(), #st{}) -> term().
terminate(_, #st{session = Session}) ->
    Session =/= undefined andalso erltrace_vm:end_session(Session),
    erltrace_nif:drop(gc_server).

-spec code_change(term(), #st{}, term()) -> {ok, #st{}}.
code_change(_, St, _) ->
    {ok, St}.

-spec format_status(gen_server:format_status()) -> gen_server:format_status().
format_status(#{state := #st{users = Users}} = Status) ->
    Status#{state := #{handles => maps:keys(Users)}};
format_status(Status) ->
    Status.

add_user(Pid, #st{users = Users} = St) ->
    St#st{users = Users#{Pid => erlang:monitor(process, Pid)}}.

%% Does anybody trace garbage collections? Called while no session of ours does.
is_traced() ->
    lists:any(fun(Who) ->
                      case erltrace_vm:attempt(trace, session_info, [Who]) of
                          Sessions when is_list(Sessions) ->
                              lists:any(fun(S) -> is_traced(S, Who) end, Sessions);
                          _ -> false % it has ended
                      end
              end, [new_processes | processes()]).

is_traced(Session, Who) ->
    case flags(Session, Who) of
        {flags, Flags} when is_list(Flags) -> lists:member(garbage_collection, Flags);
        _ -> false
    end.

%% The session of erlang:trace/3 is among them, but has a call of its own.
flags({legacy, default}, Who) -> erltrace_vm:attempt(erlang, trace_info, [Who, flags]);
flags(Session, Who) -> erltrace_vm:attempt(trace, info, [Session, Who, flags]).
