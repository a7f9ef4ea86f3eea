%% SPDX-License-Identifier: Apache-2.0
%% @private
%% The second process behind a handle. It never waits for a dirty scheduler, so it is there when
%% the handle's process is not:
%%
%% - it looks after the script some times a second (c_src/beam/watchdog.c), and tells the handle's
%%   process when the script is to be ended, or has ended by itself;
%% - the owner has died and the handle's process does not get to its end, because it is inside a
%%   long call: the probes are off all the same;
%% - the handle's process has been killed: what it armed is taken back here.
-module(erltrace_watchdog).
-export([start/4, stop/1, watch/1, is_harmless/0]).

-define(TICK, 100).   % ms between two looks
-define(PATIENCE, 300). % ms for the handle's process to end after its owner

-record(st, {handle, owner, nif, number, watching = false}).

%% @doc Started by the handle's process.
-spec start(pid(), pid(), reference(), pos_integer()) -> {pid(), reference()}.
start(Handle, Owner, Nif, Number) ->
    spawn_monitor(fun() ->
                          erltrace_vm:of_no_application(),
                          process_flag(sensitive, true),
                          process_flag(priority, high),
                          erlang:monitor(process, Handle),
                          erlang:monitor(process, Owner),
                          loop(#st{handle = Handle, owner = Owner, nif = Nif, number = Number})
                  end).

%% @doc The handle has ended in order; returns when this process has too.
-spec stop({pid(), reference()}) -> ok.
stop({Pid, Mon}) ->
    Pid ! {done, self()},
    receive {'DOWN', Mon, process, Pid, _} -> ok end.

%% @doc The script runs: look after it.
-spec watch({pid(), reference()}) -> ok.
watch({Pid, _}) ->
    Pid ! {watch, self()},
    ok.

%% @doc Does this node forbid destructive actions? By erltrace's setting `destructive' = false.
-spec is_harmless() -> boolean().
is_harmless() ->
    application:get_env(erltrace, destructive) =:= {ok, false} orelse
        case init:get_argument(erltrace) of % the application need not be loaded
            {ok, Args} -> lists:member(["destructive", "false"], Args);
            error -> false
        end.

loop(#st{handle = Handle, owner = Owner} = St) ->
    receive
        {done, Handle} -> ok;
        {watch, Handle} -> tick(St#st{watching = true});
        tick -> tick(St);
        {'DOWN', _, process, Handle, _} -> clean_up(St);
        {'DOWN', _, process, Owner, _} -> owner_gone(St);
        _ -> loop(St)
    end.

tick(#st{handle = Handle, nif = Nif} = St) ->
    case look(Nif) of
        {running, _, _} ->
            erlang:send_after(?TICK, self(), tick),
            loop(St);
        {done, _, _} ->
            Handle ! {watchdog, self(), done},
            loop(St#st{watching = false});
        {aborted, _, Text} ->
            Handle ! {watchdog, self(), {aborted, Text}},
            loop(St#st{watching = false});
        {error, _} ->
            loop(St#st{watching = false})
    end.

look(Nif) ->
    try erltrace_nif:watch(Nif, erlang:system_info(schedulers_online))
    catch error:_ -> {aborted, 0, <<"erltrace's library has been replaced by another one">>}
    end.

owner_gone(#st{handle = Handle} = St) ->
    receive
        {done, Handle} -> ok;
        {'DOWN', _, process, Handle, _} -> clean_up(St)
    after ?PATIENCE ->
        off(St),
        loop(St#st{owner = undefined})
    end.

clean_up(#st{nif = Nif} = St) ->
    off(St),
    try erltrace_nif:close(Nif)
    catch error:_ -> ok % the library is another one: the handle ends with the last reference
    end.

off(#st{nif = Nif, number = Number}) ->
    try erltrace_nif:halt(Nif)
    catch error:_ -> ok
    end,
    erltrace_vm:forget(Number).
