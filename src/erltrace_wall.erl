%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc profile-wall-N: the process that asks others where they are
%% (c_src/beam/sample/sampler_wall.c). Each time it picks a few processes at random, any of them
%% with the same chance; each stands for as many as there are for one that was picked. How many it
%% asks follows from what asking costs: a hundredth of its time at most. That is the least that it
%% has cost lately: on a busy machine the rest is waiting for a processor. Processes of erltrace are
%% not among them.
-module(erltrace_wall).
-export([start/3, stop/1]).
-export([few/3]). % for tests

-define(MOST, 200).       % processes asked at a time
-define(COSTS, 16).       % that are kept
-define(SHARE, 100).      % asking may take this part of the time
-define(LIST_SHARE, 50).  % and listing all processes this part

-record(wall, {number :: pos_integer(),
               period :: pos_integer(),             % ns
               monitor :: reference(),
               pids = {} :: tuple(),
               listed :: integer(),                 % when, and how long that is good
               good = 0 :: non_neg_integer(),
               few = 10 :: pos_integer(),           % processes to ask
               costs = [] :: [pos_integer()],       % ns for one, the last times
               own :: #{pid() => true},             % erltrace's processes around this handle
               last :: integer()}).

%% @doc For the handle of this number, which the calling process owns.
-spec start(pos_integer(), pid(), erltrace_needs:needs()) -> pid() | undefined.
start(Number, Parent, Needs) ->
    case erltrace_needs:value(wall, Needs) of
        Period when is_integer(Period) ->
            spawn(fun() ->
                          process_flag(sensitive, true),
                          process_flag(priority, high),
                          Now = now_ns(),
                          ask(#wall{number = Number, period = Period, last = Now, listed = Now,
                                    own = own(Parent),
                                    monitor = erlang:monitor(process, Parent)})
                  end);
        undefined ->
            undefined
    end.

%% @doc When this returns it asks nobody any more.
-spec stop(pid() | undefined) -> ok.
stop(undefined) ->
    ok;
stop(Pid) ->
    M = erlang:monitor(process, Pid),
    exit(Pid, kill),
    receive {'DOWN', M, process, Pid, _} -> ok end.

ask(#wall{period = Period, last = Last, monitor = M} = W) ->
    Wait = max(0, Last + Period - now_ns()),
    receive {'DOWN', M, process, _, _} -> ok
    after (Wait + 999999) div 1000000 ->
            W1 = list(W),
            Now = now_ns(),
            Samples = samples(W1),
            Cost = now_ns() - Now,
            case erltrace_nif:wall(W1#wall.number, Now - Last, Samples) of
                true ->
                    Costs = costs(Cost, length(Samples), W1#wall.costs),
                    Costs =:= [] orelse
                        erltrace_nif:took(W1#wall.number, lists:min(Costs) * length(Samples)),
                    ask(W1#wall{last = Now, costs = Costs, few = few(Period, W1#wall.few, Costs)});
                false -> ok
            end
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

%% A process of ours that waits is often in code of OTP alone. All are sensitive: they have a behaviour's
%% dictionary, and do not show it. They are around the handle: its own, the command's, the watchdog.
own(Handle) ->
    Near = lists:usort([Handle | lists:append([related(P) || P <- [Handle | related(Handle)]])]),
    maps:from_keys([P || P <- Near,
                         [{_, {proc_lib, init_p, _}}, {_, []}] <-
                             [process_info(P, [initial_call, dictionary])]], true).

related(Pid) ->
    case process_info(Pid, [links, monitors, monitored_by]) of
        [{_, Links}, {_, Monitors}, {_, By}] ->
            [P || P <- Links ++ [P || {process, P} <- Monitors] ++ By, is_pid(P), node(P) =:= node()];
        undefined -> []
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
