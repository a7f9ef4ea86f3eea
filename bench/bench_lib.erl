%% SPDX-License-Identifier: Apache-2.0
%% What the benchmarks of a node share: the processor time of this VM, its memory, the best of
%% several, rows of results.
%%
%% Costs are taken as processor time of all the VM's threads, as the kernel counts it: so a tracer
%% that works in another process or thread is counted with its work, and what others do on the
%% machine is not. Nodes run with +sbwt none, else waiting threads would count as work.
-module(bench_lib).
-export([cpu_ns/0, resident/0, peak/1, peak_reset/0, percentile/2, quick/0, row/1, row/2, goal/8, json/1,
         read/1, peer/1, peer/2, schedulers/0]).

%% Nanoseconds on a processor, all threads so far.
-spec cpu_ns() -> non_neg_integer().
cpu_ns() ->
    {ok, Tasks} = file:list_dir("/proc/self/task"),
    lists:sum([thread_ns(T) || T <- Tasks]).

thread_ns(Task) ->
    case file:read_file(["/proc/self/task/", Task, "/schedstat"]) of
        {ok, Text} -> binary_to_integer(hd(binary:split(Text, <<" ">>)));
        {error, _} -> 0
    end.

%% KB of memory that are resident; and the most since peak_reset().
-spec resident() -> non_neg_integer().
resident() -> status("self", <<"VmRSS:">>).

-spec peak(Process :: string()) -> non_neg_integer().
peak(Pid) -> status(Pid, <<"VmHWM:">>).

status(Pid, Name) ->
    case file:read_file(["/proc/", Pid, "/status"]) of
        {ok, Text} ->
            [_, Rest] = binary:split(Text, Name),
            binary_to_integer(hd(string:lexemes(Rest, " \t\n")));
        {error, _} -> 0 % it has ended
    end.

-spec peak_reset() -> ok.
peak_reset() ->
    _ = file:write_file("/proc/self/clear_refs", "5"),
    ok.

%% Of a list of numbers, the one that so many percent are not above.
-spec percentile(number(), [number(), ...]) -> number().
percentile(Percent, Numbers) ->
    Sorted = lists:sort(Numbers),
    lists:nth(max(1, ceil(length(Sorted) * Percent / 100)), Sorted).

%% make bench QUICK=1: fewer rounds, smaller steps.
-spec quick() -> boolean().
quick() -> not lists:member(os:getenv("QUICK"), [false, "", "0"]).

-spec schedulers() -> pos_integer().
schedulers() -> erlang:system_info(schedulers_online).

%% ---- nodes ------------------------------------------------------------------------------------

%% A fresh node on pipes, without distribution, that has our modules. It ends with its caller.
-spec peer([string()]) -> pid().
peer(Args) -> peer(Args, false).

-spec peer([string()], Otp :: string() | false) -> pid().
peer(Args, Otp) ->
    Paths = lists:append([["-pa", filename:absname(filename:dirname(code:which(M)))]
                          || M <- [?MODULE, erltrace]]),
    Exec = case Otp of
               false -> #{};
               _ ->
                   [Erl | _] = [F || F <- [filename:join([Otp, "bin", "erl"]), filename:join(Otp, "erl")],
                                     filelib:is_regular(F)],
                   #{exec => Erl}
           end,
    Quiet = ["+sbwt", "none", "+sbwtdcpu", "none", "+sbwtdio", "none"],
    {ok, Peer, _} = peer:start_link(Exec#{connection => standard_io, wait_boot => 60000,
                                          args => Args ++ Quiet ++ Paths}),
    Peer.

%% ---- rows -------------------------------------------------------------------------------------

%% A row of results: a line of JSON for bench/run.sh.
-spec row([{atom(), term()}]) -> ok.
row(Fields) ->
    case os:getenv("BENCH_ROWS") of
        false -> io:format("~ts~n", [json(Fields)]);
        File -> ok = file:write_file(File, [json(Fields), $\n], [append])
    end.

-spec row(Part :: string(), [{atom(), term()}]) -> ok.
row(Part, Fields) -> row([{part, Part} | Fields]).

%% One with a goal for a value, or where it is compared with a base, for their ratio.
-spec goal(string(), string(), number(), string(), number(), number(), '<=' | '>=', number()) -> ok.
goal(Part, Name, Value, Unit, Base, Ratio, Op, Goal) ->
    Ok = case Op of '<=' -> Ratio =< Goal; '>=' -> Ratio >= Goal end,
    row(Part, [{name, Name}, {value, Value * 1.0}, {unit, Unit}, {baseline, Base * 1.0},
               {ratio, case Base == 0 of true -> 0.0; false -> Ratio * 1.0 end},
               {goal, io_lib:format("~s~w", [Op, Goal])}, {ok, Ok}]).

-spec json([{atom(), term()}]) -> iodata().
json(Fields) ->
    ["{", lists:join(", ", [[$", atom_to_list(K), "\": ", value(V)] || {K, V} <- Fields]), "}"].

value(V) when is_atom(V) -> atom_to_list(V); % true, false, null
value(V) when is_integer(V) -> integer_to_list(V);
value(V) when is_float(V) -> float_to_list(V, [{decimals, 3}, compact]);
value(V) -> [$", [case C of $" -> "\\\""; $\\ -> "\\\\"; _ -> C end
                  || C <- unicode:characters_to_list(V)], $"].

%% The rows of a file of them, as maps with texts as keys.
-spec read(file:name_all()) -> [#{binary() => term()}].
read(File) ->
    {ok, Text} = file:read_file(File),
    [maps:from_list(fields(Rest)) || <<"{", Rest/binary>> <- [string:trim(L, both, " ,\r")
                                     || L <- binary:split(Text, <<"\n">>, [global])]].

fields(<<C, T/binary>>) when C =:= $\s; C =:= $, -> fields(T);
fields(<<"}", _/binary>>) -> [];
fields(Text) ->
    {Key, Rest} = read_value(Text),
    {Value, More} = read_value(string:trim(Rest, leading, ": ")),
    [{Key, Value} | fields(More)].

read_value(<<$", T/binary>>) -> text(T, <<>>);
read_value(<<"true", T/binary>>) -> {true, T};
read_value(<<"false", T/binary>>) -> {false, T};
read_value(<<"null", T/binary>>) -> {null, T};
read_value(Text) ->
    {match, [{0, N}]} = re:run(Text, "^[-+0-9.eE]+", [{capture, first}]),
    <<Number:N/binary, Rest/binary>> = Text,
    {number(binary_to_list(Number)), Rest}.

number(N) ->
    case string:to_float(N) of
        {F, []} -> F;
        _ -> list_to_integer(N)
    end.

text(<<"\\", C, T/binary>>, Acc) -> text(T, <<Acc/binary, C>>);
text(<<$", T/binary>>, Acc) -> {Acc, T};
text(<<C, T/binary>>, Acc) -> text(T, <<Acc/binary, C>>).
