%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc Asks processes, many at a time, and waits for none for long: for the walker of the provider
%% state, and where the flags of all processes change.
%%
%% What process_info/2 says of a process that runs, and much of what it says of any, is the answer
%% to a signal, which that process has to handle. In a node with more to run than schedulers each
%% answer is a turn of somebody else away. So helpers ask, each for some processes, all at the same
%% time; and at high priority, because the VM handles such a signal at the priority of who asks, if
%% that is higher: one turn, and all of them have their answers. A process that cannot answer, as it
%% is in a NIF that does not yield or collects a heap of gigabytes, keeps one helper, and nobody
%% else: it is silent until it answers.
%%
%% The helpers belong to the process that calls open/0, and end with it.
-module(erltrace_askers).
-export([open/0, open/1, close/0, ask/3, info/2, late/1]).
-export([clock_in/0, clock_out/0, worked/0]).
-export([helper/1]). % for proc_lib
-export_type([how/0]).

-define(MOST, 16).       % helpers that ask at the same time, if open/1 does not say how many
-define(SOON, 100).      % ms until the processes of a helper are asked one by one
-define(LATE, 400).      % and until one that does not answer is silent,
-define(LATE_MORE, 20).  % or this, if others are
-define(BIG, 100000).    % words of a helper's heap, after which another one takes its place

%% Module:Function(Pid, Data), which helpers call.
-type how() :: {module(), atom(), Data :: term()}.

-record(pool, {most :: pos_integer(),
               free = [] :: [pid()],
               silent = #{} :: #{pid() => pid()}, % processes: helpers that wait for them
               began :: stamp() | undefined,      % of what this process does; undefined: it waits
               spent = 0 :: non_neg_integer(),    % ns, since worked/0
               longest = 0 :: non_neg_integer()}).
-type stamp() :: {Clock :: integer(), Scheduler :: pos_integer(), Cpu :: integer()}.

-spec open() -> ok.
open() ->
    open(?MOST).

%% @doc With so many helpers at the same time.
-spec open(pos_integer()) -> ok.
open(Most) ->
    _ = put(?MODULE, #pool{most = Most}),
    ok.

%% @doc When it returns no helper is left, and no answer of one.
-spec close() -> ok.
close() ->
    #pool{free = Free, silent = Silent} = get(?MODULE),
    Helpers = Free ++ maps:values(Silent),
    Ms = [{H, erlang:monitor(process, H)} || H <- Helpers],
    [begin unlink(H), exit(H, kill) end || H <- Helpers],
    [receive {'DOWN', M, process, H, _} -> ok end || {H, M} <- Ms],
    _ = erase(?MODULE),
    flush().

flush() ->
    receive
        {?MODULE, _, _} -> flush()
    after 0 -> ok
    end.

%% @doc The function's answers about these processes, in some order; `silent': in time there was
%% none. Each helper has Few of them.
-spec ask([pid()], how(), Few :: pos_integer()) -> [{pid(), term() | silent}].
ask([], _, _) ->
    [];
ask(Pids, How, Few) ->
    #pool{silent = Silent} = get(?MODULE),
    {Known, Asked} = case map_size(Silent) of
                         0 -> {[], Pids};
                         _ -> lists:partition(fun(P) -> is_map_key(P, Silent) end, Pids)
                     end,
    {Answers, Left} = case Few of
                          1 -> {[], Asked};
                          _ -> rounds(parts(Asked, Few), How, ?SOON)
                      end,
    {More, Late} = rounds([[P] || P <- Left], How, patience()),
    [{P, silent} || P <- Known ++ Late] ++ More ++ Answers.

%% @doc As process_info/2, or `silent'; in a process that has no helpers it is process_info/2.
-spec info(pid(), Items :: term()) -> term().
info(Pid, Items) ->
    case get(?MODULE) of
        undefined ->
            process_info(Pid, Items);
        _ ->
            [{_, Answer}] = ask([Pid], {erlang, process_info, Items}, 1),
            Answer
    end.

%% @doc A message of the process: is it an answer that comes late?
-spec late(term()) -> boolean().
late({?MODULE, Helper, [{Pid, _}]}) ->
    Pool = #pool{silent = Silent} = get(?MODULE),
    case Silent of
        #{Pid := Helper} ->
            put(?MODULE, freed(Helper, Pool#pool{silent = maps:remove(Pid, Silent)}));
        _ ->
            ok
    end,
    true;
late({?MODULE, _, _}) ->
    true;
late(_) ->
    false.

%% ---- helpers ---------------------------------------------------------------------------------

parts([], _) -> [];
parts(Pids, Few) when length(Pids) =< Few -> [Pids];
parts(Pids, Few) ->
    {Part, Rest} = lists:split(Few, Pids),
    [Part | parts(Rest, Few)].

patience() ->
    #pool{silent = Silent} = get(?MODULE),
    case map_size(Silent) of
        N when N < 4 -> ?LATE;
        _ -> ?LATE_MORE
    end.

%% As many parts at a time as there may be helpers. Answers, and processes of parts without one.
rounds([], _, _) ->
    {[], []};
rounds(Parts, How, Patience) ->
    #pool{most = Most} = get(?MODULE),
    {Now, Later} = lists:split(min(Most, length(Parts)), Parts),
    Busy = maps:from_list([{send(Part, How), Part} || Part <- Now]),
    clock_out(),
    {Answers, Stuck} = collect(Busy, [], erlang:monotonic_time(millisecond) + Patience),
    clock_in(),
    [abandon(Helper, Part, Patience) || {Helper, Part} <- maps:to_list(Stuck)],
    {Answers1, Left} = rounds(Later, How, Patience),
    {Answers ++ Answers1, lists:append(maps:values(Stuck)) ++ Left}.

send(Part, {Module, Function, Data}) ->
    Helper = case get(?MODULE) of
                 #pool{free = [H | Free]} = Pool ->
                     _ = put(?MODULE, Pool#pool{free = Free}),
                     H;
                 _ ->
                     proc_lib:spawn_opt(?MODULE, helper, [self()], [link, {priority, high}])
             end,
    Helper ! {?MODULE, Part, Module, Function, Data},
    Helper.

collect(Busy, Answers, _) when map_size(Busy) =:= 0 ->
    {Answers, Busy};
collect(Busy, Answers, End) ->
    receive
        {?MODULE, Helper, New} when is_map_key(Helper, Busy) ->
            _ = put(?MODULE, freed(Helper, get(?MODULE))),
            collect(maps:remove(Helper, Busy), New ++ Answers, End)
    after max(0, End - erlang:monotonic_time(millisecond)) ->
            {Answers, Busy}
    end.

freed(Helper, #pool{free = Free} = Pool) ->
    Pool#pool{free = [Helper | Free]}.

%% One that waits for a single process goes on with that; other helpers will ask those of a part.
abandon(Helper, _, ?SOON) ->
    unlink(Helper),
    exit(Helper, kill);
abandon(Helper, [Pid], _) ->
    Pool = #pool{silent = Silent} = get(?MODULE),
    put(?MODULE, Pool#pool{silent = Silent#{Pid => Helper}}).

-spec helper(pid()) -> no_return().
helper(Parent) ->
    process_flag(sensitive, true),
    serve(Parent).

serve(Parent) ->
    receive
        {?MODULE, Pids, Module, Function, Data} ->
            Parent ! {?MODULE, self(), [{P, answer(P, Module, Function, Data)} || P <- Pids]},
            {_, Words} = process_info(self(), total_heap_size),
            _ = Words > ?BIG andalso erlang:garbage_collect(),
            serve(Parent)
    end.

%% Of a process of another node there is none.
answer(Pid, Module, Function, Data) ->
    try Module:Function(Pid, Data)
    catch _:_ -> undefined
    end.

%% ---- what it costs ---------------------------------------------------------------------------

%% @doc This process begins to work, as it does after each wait.
-spec clock_in() -> ok.
clock_in() ->
    _ = put(?MODULE, (get(?MODULE))#pool{began = stamp()}),
    ok.

%% @doc It waits, or lets others run.
-spec clock_out() -> ok.
clock_out() ->
    #pool{began = Began, spent = Spent, longest = Longest} = Pool = get(?MODULE),
    Took =
        case Began of
            undefined -> 0;
            _ -> took(Began, stamp())
        end,
    _ = put(?MODULE, Pool#pool{
        began = undefined, spent = Spent + Took, longest = max(Longest, Took)
    }),
    ok.

%% @doc CPU time of this process since the last such question, without what passed while it waited,
%% and the longest that it had a scheduler, in ns.
-spec worked() -> {non_neg_integer(), non_neg_integer()}.
worked() ->
    #pool{spent = Spent, longest = Longest} = Pool = get(?MODULE),
    _ = put(?MODULE, Pool#pool{spent = 0, longest = 0}),
    {Spent, Longest}.

stamp() ->
    {
        erlang:monotonic_time(nanosecond),
        erlang:system_info(scheduler_id),
        erltrace_nif:thread_time()
    }.

%% The CPU time of the scheduler. If this process has been moved to another one, only the clock is
%% left.
took({Began, Scheduler, Cpu}, {Now, Scheduler, Cpu1}) -> min(Now - Began, Cpu1 - Cpu);
took({Began, _, _}, {Now, _, _}) -> Now - Began.
