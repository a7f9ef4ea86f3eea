%% SPDX-License-Identifier: Apache-2.0
%% @private
%% @doc Has the library find out, once per node, where the stock VM keeps what scripts need of its
%% insides (c_src/beam/vm/find.h). A search has processes of ours do what is known, which the
%% library observes; what it concludes from that is tested, and is published only then. Whatever is
%% not certain is refused, with the reason, and so is everything where the setting vm_internals
%% forbids it.
%%
%% The search of each fact is a function here, or in the module that needs the fact:
%%
%%   stack      where the stack of a process is, its mailbox, the frames of return_to (vm/layout.c)
%%   name       the registered name of the process that runs (vm/own_name.c)
%%   token      its sequential trace token (vm/token.c)
%%   run_state  whether a process that is scheduled out waits (vm/run_state.c)
%%   numbers    mailboxes, heaps and reductions of all processes (state/proc_words.c),
%%              erltrace_words
%%   code       which function an address is of (code/code_lookup.c), erltrace_code
%%   fast       where the JIT's code calls the VM (fast/fast_find.c), erltrace_fastcalls
%%   sampling   what a signal handler reads (sample/sampler_find.c), erltrace_sampling
-module(erltrace_find).
-export([known/1, is_known/1, refuse/2]).
-export([all_ok/1, in_process/2, text/2]). % for the modules that search
-export([search/1, conclude/1, result/1]). % for tests; spawned
-export([stack_body/1, stack_tail/1, stack_raise/1]). % traced by the search for the stack
-export_type([fact/0, answer/0, outcome/0]).

-type fact() :: stack | name | token | run_state | numbers | code | fast | sampling.
-type answer() :: ok | {refused, Why :: binary()}.
%% try_again: not now, the next script searches again.
-type outcome() :: ok | {refused | try_again, Why :: iodata()}.

-define(TRIES, 3). % of searches that a busy node may spoil

%% @doc Is this fact known in this node? The first time it is searched for.
-spec known(fact()) -> answer().
known(Fact) ->
    case erltrace_nif:find(Fact, get) of
        undefined -> first(Fact);
        Answer -> Answer
    end.

-spec is_known(fact()) -> boolean().
is_known(Fact) -> known(Fact) =:= ok.

%% @doc It may not be used in this node, whether it is known or not.
-spec refuse(fact(), iodata()) -> answer().
refuse(Fact, Why) ->
    ok = erltrace_nif:find(Fact, {refuse, Why}),
    {refused, iolist_to_binary(Why)}.

%% The search is made apart: it goes on if this process is killed.
first(Fact) ->
    {P, M} = spawn_opt(?MODULE, result, [fun() -> locked(Fact) end], [monitor, {priority, high}]),
    receive
        {'DOWN', M, process, P, {result, Answer}} -> Answer;
        {'DOWN', M, process, P, Why} -> refuse(Fact, text("the test ended with ~0P", [Why, 20]))
    end.

%% One search at a time: the name is a lock, which is free again when its holder ends.
locked(Fact) ->
    erltrace_vm:leave_application(),
    process_flag(sensitive, true),
    Lock = list_to_atom("erltrace_find_" ++ atom_to_list(Fact)),
    try register(Lock, self()) of
        true ->
            case erltrace_nif:find(Fact, get) of
                undefined -> end_with(Fact, explained(Fact, search(Fact)));
                Answer -> Answer
            end
    catch
        error:badarg ->
            M = monitor(process, Lock),
            receive {'DOWN', M, process, _, _} -> ok end,
            locked(Fact)
    end.

end_with(Fact, ok) ->
    erltrace_nif:find(Fact, publish);
end_with(Fact, {refused, Why}) ->
    refuse(Fact, Why);
end_with(Fact, {try_again, Why}) ->
    ok = erltrace_nif:find(Fact, {try_again, Why}),
    {refused, iolist_to_binary(Why)}.

%% A flag of the emulator may be why the JIT's code is not as known.
explained(Fact, {refused, Why}) when Fact =:= fast; Fact =:= sampling ->
    Args = case file:read_file("/proc/self/cmdline") of
               {ok, Line} -> binary:split(Line, <<0>>, [global]);
               {error, _} -> []
           end,
    Given = [[" +J", Flag, " ", Value] || {<<"-J", Flag/binary>>, Value} <- pairs(Args),
                                          Flag =:= <<"Pperf">> orelse Flag =:= <<"Msingle">>,
                                          Value =/= <<"false">>],
    {refused, [Why, [[" (the node was started with", Given, ")"] || Given =/= []]]};
explained(_, Outcome) ->
    Outcome.

pairs([A, B | Rest]) -> [{A, B} | pairs([B | Rest])];
pairs(_) -> [].

%% @doc Search for it, and test what was concluded; nothing is published.
-spec search(fact()) -> outcome().
search(Fact) ->
    all_ok([fun allowed/0] ++
               [fun() -> needs(Needed) end || Needed <- needed(Fact)] ++
               [fun() -> conclude(Fact, tries(Fact)) end, fun() -> self_test(Fact) end]).

allowed() ->
    case lists:member(false, erltrace_app:setting(vm_internals)) of
        true -> {refused, <<"the setting vm_internals forbids it">>};
        false -> ok
    end.

needs(stack) ->
    case known(stack) of
        ok -> ok;
        {refused, _} -> {refused, <<"the layout of processes is not known">>}
    end.

%% What must be known before. It takes locks of its own.
needed(Fact) when Fact =:= stack; Fact =:= run_state; Fact =:= numbers -> [];
needed(_) -> [stack].

tries(Fact) when Fact =:= run_state; Fact =:= numbers -> ?TRIES;
tries(_) -> 1.

conclude(Fact, Tries) ->
    case conclude(Fact) of
        {refused, _} when Tries > 1 -> conclude(Fact, Tries - 1);
        Outcome -> Outcome
    end.

%% @doc The search, up to its conclusion.
-spec conclude(fact()) -> outcome().
conclude(Fact) ->
    ok = erltrace_nif:find(Fact, start),
    case observe(Fact) of
        ok -> erltrace_nif:find(Fact, conclude);
        concluded -> ok;
        Outcome -> Outcome
    end.

observe(stack) -> erltrace_vm:locked(fun observe_stack/0);
observe(name) -> observe_name();
observe(token) -> observe_token();
observe(run_state) -> erltrace_vm:locked(fun observe_run_state/0);
observe(numbers) -> erltrace_words:observe();
observe(code) -> erltrace_code:observe();
observe(fast) -> erltrace_fastcalls:observe();
observe(sampling) -> erltrace_sampling:observe().

self_test(token) -> test_token();
self_test(code) -> erltrace_code:self_test();
self_test(fast) -> erltrace_fastcalls:self_test();
self_test(sampling) -> erltrace_sampling:self_test();
self_test(_) -> ok.

%% ---- what searches have in common ------------------------------------------------------------

%% @doc One step after the other, until one is not ok.
-spec all_ok([fun(() -> ok | Other)]) -> ok | Other.
all_ok([]) ->
    ok;
all_ok([Step | Steps]) ->
    case Step() of
        ok -> all_ok(Steps);
        Other -> Other
    end.

%% @doc What it answers in a process of its own.
-spec in_process(fun(() -> Result), [term()]) -> Result | {refused, binary()}.
in_process(Fun, Options) ->
    {P, M} = spawn_opt(?MODULE, result, [Fun], [monitor | Options]),
    receive
        {'DOWN', M, process, P, {result, Result}} -> Result;
        {'DOWN', M, process, P, Why} -> {refused, text("~0P", [Why, 20])}
    end.

%% @private
-spec result(fun(() -> term())) -> no_return().
result(Fun) ->
    exit({result, Fun()}).

%% @doc A reason.
-spec text(string(), [term()]) -> binary().
text(Format, Args) ->
    unicode:characters_to_binary(io_lib:format(Format, Args)).

%% ---- stack -----------------------------------------------------------------------------------

observe_stack() ->
    {P, M} = spawn_monitor(fun() -> sizes(3) end),
    receive {'DOWN', M, process, P, _} -> ok end,
    case erltrace_nif:find(stack, words) of
        true -> events();
        false -> {refused, <<"no two words of a process are its stack's">>}
    end.

%% At each depth the stack is larger, and more messages are in the queue.
sizes(0) ->
    0;
sizes(N) ->
    [self() ! N || _ <- lists:seq(1, 7 + N)],
    [{_, Size}, {_, Queue}] = process_info(self(), [stack_size, message_queue_len]),
    ok = erltrace_nif:find(stack, {sizes, {Size, Queue}}),
    1 + sizes(N - 1).

events() ->
    {P, M} = spawn_opt(
        fun() ->
            receive
                go -> ok
            end,
            4 = 1 + ?MODULE:stack_body(3),
            0 = id(?MODULE:stack_tail(3)),
            [raises(Why) || Why <- [throw, error, exit, raise]],
            receives(),
            [take_mail(N) || N <- [3, 7, 12]]
        end,
        [monitor, {min_heap_size, 10000}]
    ),
    Off = erltrace_vm:trace_search(P, [
        {?MODULE, F, 1}
     || F <- [stack_body, stack_tail, stack_raise]
    ]),
    P ! go,
    receive
        {'DOWN', M, process, P, _} -> ok
    end,
    _ = Off(),
    ok.

%% Messages and timeouts, with and without messages in the queue.
receives() ->
    [receive none -> ok after Ms -> ok end || Ms <- [0, 1, 0]],
    [self() ! M || M <- [first, second]],
    receive second -> ok end,
    [receive none -> ok after Ms -> ok end || Ms <- [0, 1, 0]],
    [begin self() ! M, receive M -> ok end end || M <- [third, first, first]],
    receive first -> ok end. % the last one

%% N messages arrive while the process does not take any in. From OTP 27 on the VM does that too
%% when a traced process has been scheduled out several times, and at any garbage collection: so
%% this one has a time slice for it and a large heap.
take_mail(N) ->
    erlang:yield(),
    [self() ! {mail, I} || I <- lists:seq(1, N)],
    ok = erltrace_nif:find(stack, {mail, N}),
    [receive {mail, I} -> ok end || I <- lists:seq(1, N)].

%% A call that an exception ends, and one that returns.
raises(Why) ->
    try ?MODULE:stack_raise(Why) catch _:_ -> ok end,
    1 = 1 + ?MODULE:stack_body(0).

id(X) -> X.

-spec stack_body(non_neg_integer()) -> non_neg_integer().
stack_body(0) -> 0;
stack_body(N) -> 1 + stack_body(N - 1).

-spec stack_tail(non_neg_integer()) -> 0.
stack_tail(0) -> 0;
stack_tail(N) -> stack_tail(N - 1).

-spec stack_raise(throw | error | exit | raise) -> no_return().
stack_raise(throw) -> throw(layout);
stack_raise(error) -> error(layout);
stack_raise(exit) -> exit(layout);
stack_raise(raise) -> erlang:raise(throw, layout, []).

%% ---- name ------------------------------------------------------------------------------------

%% This process has a name already, the lock: another one is observed.
observe_name() ->
    {P, M} = spawn_monitor(
               fun() ->
                       process_flag(sensitive, true),
                       Names = [erltrace_name_1, erltrace_name_2, erltrace_name_1, erltrace_name_3],
                       [observe_name(process, Name) || Name <- Names],
                       true = erltrace_nif:find(name, words),
                       [observe_name(entry, Name) || Name <- Names]
               end),
    receive {'DOWN', M, process, P, _} -> ok end.

observe_name(What, Name) ->
    ok = erltrace_nif:find(name, {process, undefined}),
    true = register(Name, self()),
    ok = erltrace_nif:find(name, {What, Name}),
    true = unregister(Name).

%% ---- token -----------------------------------------------------------------------------------

observe_token() ->
    lists:foreach(fun observe_token/1, [erltrace_1, erltrace_2, erltrace_flow, erltrace_3]).

observe_token(Label) ->
    _ = seq_trace:set_token([]),
    ok = erltrace_nif:find(token, {observe, undefined}),
    _ = seq_trace:set_token(label, Label),
    ok = erltrace_nif:find(token, {observe, Label}),
    _ = seq_trace:set_token([]).

%% What is written into the token of a process, flags that the VM does not know too, is what the VM
%% reads there, and sends on.
test_token() ->
    Written = [{label, write, 1 bsl 58}, {label, write, 1 bsl 40 + 1},
               {flags, flags, (1 bsl 57) bor (1 bsl 8)}],
    case [V || {Part, Step, V} <- Written, written(Part, Step, V) =/= {V, V}] of
        [] -> ok;
        _ -> {refused, <<"what is written into a token is not what the VM reads there">>}
    end.

written(Part, Step, Value) ->
    _ = seq_trace:set_token(label, erltrace_flow),
    ok = erltrace_nif:find(token, {Step, Value}),
    Own = in_token(Part),
    self() ! {?MODULE, Value},
    _ = seq_trace:set_token([]),
    receive {?MODULE, Value} -> ok end,
    Sent = in_token(Part),
    _ = seq_trace:set_token([]),
    {Own, Sent}.

in_token(label) -> element(2, seq_trace:get_token(label));
in_token(flags) -> element(1, seq_trace:get_token()).

%% ---- run_state -------------------------------------------------------------------------------

-define(TURNS, 4).

%% A process may be interrupted before it does what it has announced: then there is another try.
observe_run_state() ->
    Me = self(),
    {P, M} = spawn_monitor(fun() -> receive go -> ok end, turns(Me, ?TURNS) end),
    Off = trace_run_state(P),
    P ! go,
    serve(P, M),
    _ = Off(),
    ok.

trace_run_state(P) ->
    _ = erltrace_vm:attempt(erlang, trace, [P, false, [all]]), % others may trace new processes
    case erltrace_vm:has_sessions() of
        true ->
            S = apply(trace, session_create, [erltrace, {erltrace_nif, run_state}, []]),
            apply(trace, process, [S, P, true, [running_procs]]),
            fun() -> erltrace_vm:end_session(S) end;
        false ->
            Flags = [running_procs, {tracer, erltrace_nif, run_state}],
            _ = erltrace_vm:attempt(erlang, trace, [P, true, Flags]),
            fun() -> ok end
    end.

turns(_, 0) ->
    ok;
turns(Parent, N) ->
    erlang:yield(), % with a whole time slice
    erltrace_nif:find(run_state, yields),
    erlang:yield(),
    Parent ! {self(), wake},
    erltrace_nif:find(run_state, waits),
    receive go -> ok end,
    erlang:yield(),
    erltrace_nif:find(run_state, yields),
    work(20000, N, []),
    erlang:yield(),
    erltrace_nif:find(run_state, waits),
    receive never -> ok after 1 -> ok end,
    erltrace_nif:find(run_state, none),
    turns(Parent, N - 1).

%% More than a time slice.
work(0, A, B) -> {A, B};
work(N, A, B) -> work(N - 1, A, B).

serve(P, M) ->
    receive
        {P, wake} ->
            waits(P),
            P ! go,
            serve(P, M);
        {'DOWN', M, process, P, _} ->
            ok
    end.

waits(P) ->
    case process_info(P, status) of
        {status, waiting} -> ok;
        undefined -> ok;
        _ -> erlang:yield(), waits(P)
    end.
