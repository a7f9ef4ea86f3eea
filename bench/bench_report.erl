%% SPDX-License-Identifier: Apache-2.0
%% bench/results.json as tables on the terminal, and as doc/bench.md with its charts.
-module(bench_report).
-export([terminal/1, doc/2]).

-spec terminal(file:name_all()) -> ok.
terminal(File) ->
    Rows = bench_lib:read(File),
    io:format("~ts", [[[[T, "\n\n", columns(Table), $\n] || {T, Table} <- tables(Rows)],
                       verdict(Rows), $\n]]).

%% doc/bench.md, doc/img/bench.svg and doc/img/bench-growth.svg.
-spec doc(file:name_all(), file:name_all()) -> ok.
doc(File, Dir) ->
    Rows = bench_lib:read(File),
    Images = filename:join(Dir, "img"),
    ok = filelib:ensure_path(Images),
    ok = file:write_file(filename:join(Images, "bench.svg"), bench_chart:bars(Rows)),
    ok = file:write_file(filename:join(Images, "bench-growth.svg"), bench_chart:growth(Rows)),
    ok = file:write_file(filename:join(Dir, "bench.md"), unicode:characters_to_binary(page(Rows))).

-define(CALLS, "ns over a call that is not traced").

%% ---- the tables -------------------------------------------------------------------------------

%% {Title, [Line]}, a line being a list of texts; the first has the heads, columns but the first are
%% flushed right.
tables(Rows) ->
    [{machine(Rows), []}] ++
        [{"Function calls: " ++ ?CALLS, calls(Rows)} || of_part(<<"calls">>, Rows) =/= []] ++
        [{Title, side_by_side(Load, Rows)} || {Load, Title} <- loads(Rows)] ++
        [{"RabbitMQ under load: messages that its processes send, by sender", rabbit(Rows)}
         || of_part(<<"rabbit">>, Rows) =/= []] ++
        [{[Title, ": the cost of an event should be ", Should, with_what(With)], growth(With, Rows)}
         || {With, Title, Should} <- things(Rows)] ++
        [{"Goals", goals(Rows)}].

of_part(Part, Rows) -> [R || #{<<"part">> := P} = R <- Rows, P =:= Part].

machine(Rows) ->
    [#{<<"cpu">> := Cpu, <<"cpus">> := N, <<"kernel">> := Kernel, <<"otp">> := Otp, <<"load">> := Load,
       <<"date">> := Date, <<"quick">> := Quick} | _] = of_part(<<"machine">>, Rows),
    [Date, ", ", integer_to_list(N), " CPUs (", Cpu, "), Linux ", Kernel, ", OTP ", Otp,
     io_lib:format(", load average at the start ~w", [Load]),
     [", QUICK=1: rough figures" || Quick]].

loads(Rows) ->
    lists:uniq([{L, T} || #{<<"load">> := L, <<"title">> := T} <- of_part(<<"compare">>, Rows)]).

things(Rows) ->
    lists:uniq([{W, T, S} || #{<<"with">> := W, <<"title">> := T, <<"should">> := S} <- Rows]).

side_by_side(Load, Rows) ->
    Here = [R || #{<<"load">> := L} = R <- of_part(<<"compare">>, Rows), L =:= Load],
    Ours = case [Ns || #{<<"way">> := <<"erltrace">>, <<"ns">> := Ns} <- Here] of
               [Ns | _] -> Ns;
               [] -> 0
           end,
    [["", "ns/event", "x erltrace", "kept %", "p99 +us", "memory KB", "msgs/1000"] |
     [side(R, Ours) || R <- Here]].

side(#{<<"what">> := What, <<"missing">> := Why}, _) -> [What, ["- ", Why]];
side(#{<<"what">> := What, <<"kept">> := Kept, <<"p99">> := P99, <<"kb">> := Kb,
       <<"messages">> := Messages} = R, Ours) ->
    Ns = maps:get(<<"ns">>, R, 0),
    [What, short(Ns), case Ours of 0 -> ""; _ -> fixed(Ns / Ours, 2) end, fixed(Kept, 1), short(P99),
     integer_to_list(Kb), integer_to_list(Messages)].

rabbit(Rows) ->
    [["", "us/message", "messages/s", "kept %", "msgs/1000"] |
     [[What, integer_to_list(Us), integer_to_list(Rate), integer_to_list(Kept), integer_to_list(Sent)]
      || #{<<"what">> := What, <<"us">> := Us, <<"rate">> := Rate, <<"kept">> := Kept,
           <<"messages">> := Sent} <- of_part(<<"rabbit">>, Rows)]].

calls(Rows) ->
    [["", "one function", "400 in turn"] |
     [case R of
          #{<<"what">> := What, <<"missing">> := Why} -> [What, ["- ", Why]];
          #{<<"what">> := What, <<"one">> := One, <<"many">> := Many} -> [What, short(One), short(Many)]
      end || #{<<"what">> := _} = R <- of_part(<<"calls">>, Rows)]].

with_what(<<"functions">>) -> " (one of them called; all of them)";
with_what(<<"threads">>) -> " (CPU time)";
with_what(_) -> "".

growth(With, Rows) ->
    Here = [R || #{<<"with">> := W} = R <- Rows, W =:= With],
    Line = fun(Title, Key) ->
                   case [V || #{Key := V} <- Here] of
                       [] -> [];
                       Values -> [[Title | [short(V) || V <- Values]]]
                   end
           end,
    [["" | [integer_to_list(N) || #{<<"n">> := N} <- Here]]] ++
        Line("ns per event", <<"ns">>) ++ Line("a tracer that does nothing", <<"floor">>) ++
        Line("all called, ns", <<"spread_ns">>) ++
        Line("a tracer that does nothing", <<"spread_floor">>) ++
        Line("ms to arm", <<"arm">>) ++ Line("ms to end", <<"off">>).

%% By part, a line with its name before each.
goals(Rows) ->
    All = with_goal(Rows),
    [["", "value", "against", "ratio", "goal", ""] |
     lists:append([[[part(P), "", "", "", "", ""] | [goal(R) || R <- of_part(P, All)]]
                   || P <- lists:uniq([P || #{<<"part">> := P} <- All])])].

goal(#{<<"name">> := Name, <<"value">> := Value, <<"unit">> := Unit, <<"baseline">> := Base,
       <<"ratio">> := Ratio, <<"ok">> := Ok, <<"goal">> := <<Op:2/binary, Goal/binary>>}) ->
    [["  ", Name], [short(Value), " ", Unit], case Base == 0 of true -> ""; false -> short(Base) end,
     case Base == 0 of true -> ""; false -> fixed(Ratio, 2) end,
     [Op, " ", Goal],
     case Ok of true -> "met"; false -> "MISSED" end].

part(<<"engine">>) -> "the engine alone, machine code";
part(<<"node">>) -> "in a node, against a tracer that does nothing";
part(<<"calls">>) -> "function calls";
part(<<"samples">>) -> "samples of a node, from inside";
part(<<"flows">>) -> "requests that are followed";
part(<<"state">>) -> "what there is: how much of it can be asked for in 5 s, at 2 % of the time of two schedulers";
part(<<"compare">>) -> "others, against erltrace";
part(<<"print">>) -> "processor time for lines that a script prints, against the same calls that are only counted";
part(<<"stall">>) -> "the longest time that a process which is ready does not run, against nothing attached";
part(<<"kernel">>) -> "in the kernel";
part(<<"page">>) -> "the live page and its server";
part(Part) -> Part.

with_goal(Rows) -> [R || #{<<"goal">> := G} = R <- Rows, G =/= <<"0">>, G =/= <<>>].

verdict(Rows) ->
    All = with_goal(Rows),
    Met = [R || #{<<"ok">> := true} = R <- All],
    io_lib:format("~b of ~b goals are met", [length(Met), length(All)]).

%% Three digits that count.
short(N) when N >= 100; N == 0 -> integer_to_list(round(N));
short(N) when N >= 10; N =< -10 -> fixed(N, 1);
short(N) -> fixed(N, 2).

fixed(N, Decimals) -> float_to_list(N * 1.0, [{decimals, Decimals}]).

%% ---- on the terminal --------------------------------------------------------------------------

columns([]) -> [];
columns(Lines) ->
    Texts = [[unicode:characters_to_list(T) || T <- L] || L <- Lines],
    Full = [L || L <- Texts, length(L) > 2] ++ [L || L <- Texts, length(L) =:= 2],
    Widths = [lists:max([length(lists:nth(I, L)) || L <- Full, length(L) >= I, full(L, Full)])
              || I <- lists:seq(1, length(hd(Texts)))],
    [[line(L, Widths, full(L, Full)), $\n] || L <- Texts].

%% Not those that have a remark instead of figures.
full(L, All) -> length(L) =:= length(hd(All)).

line([First, Remark], [W | _], false) -> ["  ", pad(First, W), "  ", Remark];
line([First | Rest], [W | Widths], _) ->
    ["  ", pad(First, W) | [["  ", string:pad(T, N, leading)] || {T, N} <- lists:zip(Rest, Widths)]].

pad(Text, N) -> string:pad(Text, N, trailing).

%% ---- doc/bench.md -----------------------------------------------------------------------------

page(Rows) ->
    ["# What it costs\n\n"
     "Made by `make bench` from its results (`make bench-doc` makes this page again): ",
     machine(Rows), ". Run it on the machine that you are interested in.\n\n", summary(Rows),
     "\n## Side by side\n\n"
     "Each load is traced by each tool for the same question, in fresh nodes that take turns; the "
     "best of several rounds counts. Columns: the CPU time of the whole VM per event, and how many "
     "times that of erltrace it is; the throughput that remains, where the work ends when the "
     "tracer has processed the last event; by how much the slowest percent of operations gets "
     "slower; memory beyond that of the work (and in the programs that trace); messages sent to a "
     "tracer per 1000 events. If a script only counts calls, erltrace uses the VM's counters unless "
     "told otherwise (`-x counters=0`); the line `erltrace` is without them. The process that "
     "stands for recon and redbug only counts; they also format each event as text. For dbg's and "
     "fprof's files only the writing is counted.\n\n"
     "![ns per event](img/bench.svg)\n\n",
     [["### ", Title, "\n\n", markdown(side_by_side(Load, Rows)), $\n]
      || {Load, Title} <- loads(Rows)],
     [["### Function calls\n\n" ?CALLS ": one function in a loop, 400 functions in turn. A heat map is the "
       "distribution of the time of each function.\n\n", markdown(calls(Rows)), $\n]
      || of_part(<<"calls">>, Rows) =/= []],
     [["### RabbitMQ under load: messages that its processes send, by sender\n\n",
       markdown(rabbit(Rows)), $\n] || of_part(<<"rabbit">>, Rows) =/= []],
     "## How the cost grows\n\n"
     "![ns per event, as something grows](img/bench-growth.svg)\n\n",
     [["### With ", Title, "\n\nThe cost of an event should be ", Should, with_what(With), ".\n\n",
       markdown(growth(With, Rows)), $\n] || {With, Title, Should} <- things(Rows)],
     "## Goals\n\n", verdict(Rows), ".\n\n", markdown(goals(Rows))].

%% For those who read one table only.
summary(Rows) ->
    Ways = [{<<"null">>, "floor: a tracer that does nothing"}, {<<"erltrace">>, "erltrace"},
            {<<"fast">>, "erltrace, calls=fast"},
            {<<"counters">>, "erltrace by the VM's counters"},
            {<<"process">>, "a process that receives events (recon, redbug)"}, {<<"dbg">>, "dbg"},
            {<<"dbg_file">>, "dbg to a file"}, {<<"eprof">>, "eprof"}, {<<"fprof">>, "fprof"},
            {<<"usdt">>, "bpftrace, a VM with USDT probes"}],
    Loads = [L || {L, _} <- loads(Rows)],
    Figures = maps:from_list([{{W, L}, Ns} || #{<<"way">> := W, <<"load">> := L, <<"ns">> := Ns}
                                                  <- Rows]),
    ["Nanoseconds per event:\n\n",
     markdown([["" | Loads] |
               [[Title | [case Figures of #{{W, L} := Ns} -> short(Ns); _ -> "" end || L <- Loads]]
                || {W, Title} <- Ways, lists:any(fun(L) -> is_map_key({W, L}, Figures) end, Loads)]])].

markdown([Heads | Lines]) ->
    [cells(Heads), ["|---" | lists:duplicate(length(Heads) - 1, "|---:")], "|\n" |
     [cells(L) || L <- Lines]].

cells(Texts) -> [[["| ", escape(T), " "] || T <- Texts], "|\n"].

escape(Text) -> string:replace(unicode:characters_to_list(Text), "|", "\\|", all).
