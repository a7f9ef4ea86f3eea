%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc profile-wall-N: the process that asks others where they are
%% (c_src/beam/sample/sampler_wall.c). Each time it picks a few processes at random, any of them
%% with the same chance; each stands for as many as there are for one that was picked. How many it
%% asks follows from what asking costs: a hundredth of its time at most. That is the least that it
%% has cost lately: on a busy machine the rest is waiting for a processor. Processes of erltrace are
%% not among them.
-module(erltrace_wall).
-behaviour(gen_server).
-export([start/4, stop/1]).
-export([init/1, handle_continue/2, handle_call/3, handle_cast/2, handle_info/2, code_change/3,
         format_status/1]).
-export([few/3]). % for tests

-define(MOST, 200).       % processes asked at a time
-define(COSTS, 16).       % that are kept
-define(SHARE, 100).      % asking may take this part of the time
-define(LIST_SHARE, 50).  % and listing all processes this part

-record(wall, {number :: pos_integer(),
               period :: pos_integer(),             % ns
               pids = {} :: tuple(),
               listed = 0 :: integer(),             % when, and how long that is good
               good = 0 :: non_neg_integer(),
               few = 10 :: pos_integer(),           % processes to ask
               costs = [] :: [pos_integer()],       % ns for one, the last times
               own = #{} :: #{pid() => true},       % erltrace's processes around this handle
               last = 0 :: integer()}).

%% @doc For the handle of this number; Handle is its process.
-spec start(Sup :: pid(), pos_integer(), Handle :: pid(), erltrace_needs:needs()) ->
    pid() | undefined.
start(Sup, Number, Handle, Needs) ->
    case erltrace_needs:value(wall, Needs) of
        Period when is_integer(Period) ->
            case erltrace_handle_sup:start_helper(Sup, ?MODULE, {Number, Period, Handle}) of
                {ok, Pid} -> Pid;
                {error, shutdown} -> undefined
            end;
        undefined ->
            undefined
    end.

%% @doc When this returns it asks nobody any more.
-spec stop(pid() | undefined) -> ok.
stop(undefined) ->
    ok;
stop(Pid) ->
    M = erlang:monitor(process, Pid),
    exit(Pid, shutdown),
    receive {'DOWN', M, process, Pid, _} -> ok end.

-spec init({Sup :: pid(), {pos_integer(), Period :: pos_integer(), Handle :: pid()}}) ->
          {ok, #wall{}, {continue, {own, pid()}}}.
init({_, {Number, Period, Handle}}) ->
    process_flag(sensitive, true),
    {ok, #wall{number = Number, period = Period}, {continue, {own, Handle}}}.

-spec handle_continue({own, pid()}, #wall{}) -> {noreply, #wall{}}.
handle_continue({own, Handle}, W) ->
    Now = now_ns(),
    {noreply, ask_later(W#wall{last = Now, listed = Now, own = own(Handle)})}.

-spec handle_call(term(), gen_server:from(), #wall{}) -> {reply, {error, unknown}, #wall{}}.
handle_call(_, _, W) ->
    {reply, {error, unknown}, W}.

-spec handle_cast(term(), #wall{}) -> {noreply, #wall{}}.
handle_cast(_, W) ->
    {noreply, W}.

-spec handle_info(term(), #wall{}) -> {noreply, #wall{}} | {stop, normal, #wall{}}.
handle_info(ask, W) ->
    ask(list(W));
handle_info(_, W) ->
    {noreply, W}.

-spec code_change(term(), #wall{}, term()) -> {ok, #wall{}}.
code_change(_, W, _) ->
    {ok, W}.

-spec format_status(gen_server:format_status()) -> gen_server:format_status().
format_status(#{state := #wall{} = W} = Status) ->
    Status#{state := #{number => W#wall.number, period => W#wall.period, asks => W#wall.few}};
format_status(Status) ->
    Status.

ask_later(#wall{period = Period, last = Last} = W) ->
    Wait = max(0, Last + Period - now_ns()),
    _ = erlang:send_after((Wait + 999999) div 1000000, self(), ask),
    W.

ask(#wall{number = Number, period = Period, last = Last} = W) ->
    Now = now_ns(),
    Samples = samples(W),
    Cost = now_ns() - Now,
    case erltrace_nif:wall(Number, Now - Last, Samples) of
        true ->
            Costs = costs(Cost, length(Samples), W#wall.costs),
            Costs =:= [] orelse erltrace_nif:took(Number, lists:min(Costs) * length(Samples)),
            {noreply,
                ask_later(W#wall{last = Now, costs = Costs, few = few(Period, W#wall.few, Costs)})};
        false ->
            {stop, normal, W}
    end.

%% A large node's processes are listed now and then only.
list(#wall{listed = Listed, good = Good} = W) ->
    case now_ns() of
        Now when Now - Listed >= Good ->
            Pids = list_to_tuple(processes()),
            W#wall{pids = Pids, listed = Now, good = ?LIST_SHARE * (now_ns() - Now)};
        _ ->
            W
    end.

samples(#wall{pids = Pids, few = Few, own = Own}) ->
    N = tuple_size(Pids),
    Picked = if N =< Few -> tuple_to_list(Pids);
                true -> [element(rand:uniform(N), Pids) || _ <- lists:seq(1, Few)]
             end,
    Weight = N / length(Picked),
    [{P, whole(Weight), state(Status), Name, [frame(F) || F <- Stack]} ||
        P <- Picked, P =/= self(), not is_map_key(P, Own),
        [{_, Status}, {_, Name}, {_, Stack}] <-
            [process_info(P, [status, registered_name, current_stacktrace])],
        not is_own(Name), Stack =:= [] orelse not is_own(element(1, lists:last(Stack)))].

%% The file without its folder, as in other stacks.
frame({M, F, A, [{file, File}, {line, Line} | _]}) ->
    {M, F, A, unicode:characters_to_binary(filename:basename(File)), Line};
frame({M, F, A, _}) ->
    {M, F, A}.

%% A process of ours that waits is often in code of OTP alone. All are sensitive: they have a
%% behaviour's dictionary, and do not show it. They are around the handle: its own, its
%% supervisor's, the command's.
own(Handle) ->
    Near = lists:usort([Handle | lists:append([related(P) || P <- [Handle | related(Handle)]])]),
    maps:from_keys([P || P <- Near,
                         [{_, {proc_lib, init_p, _}}, {_, []}] <-
                             [process_info(P, [initial_call, dictionary])]], true).

related(Pid) ->
    case process_info(Pid, [links, monitors, monitored_by]) of
        [{_, Links}, {_, Monitors}, {_, By}] ->
            [
                P
             || P <- Links ++ [P || {process, P} <- Monitors] ++ By, is_pid(P), node(P) =:= node()
            ];
        undefined ->
            []
    end.

is_own(Name) when is_atom(Name) -> lists:prefix("erltrace", atom_to_list(Name));
is_own([]) -> false.

%% Right on average.
whole(Weight) ->
    N = trunc(Weight),
    case rand:uniform() < Weight - N of
        true -> N + 1;
        false -> N
    end.

state(garbage_collecting) -> gc;
state(Status) -> Status.

costs(_, 0, Costs) -> Costs;
costs(Cost, N, Costs) -> lists:sublist([max(1, Cost div N) | Costs], ?COSTS).

%% @doc How many to ask, for what one has cost the last times.
-spec few(Period :: pos_integer(), Now :: pos_integer(), Costs :: [pos_integer()]) -> pos_integer().
few(_, Few, []) -> Few;
few(Period, _, Costs) -> max(1, min(?MOST, Period div (?SHARE * lists:min(Costs)))).

now_ns() ->
    erlang:monotonic_time(nanosecond).
