%% SPDX-License-Identifier: Apache-2.0
%% The ways to trace that are compared: a table of them, and of what is asked of them for each load
%% of bench_loads. All run inside the node that is traced, but for the programs that some start.
-module(bench_ways).
-export([all/0, way/1, here/2, on/2, ready/2, done/1, off/1]).
-export([tracer/1, script/1, hold/3]).

-define(FUNCTIONS, [{request, 1}, {parse, 1}, {lookup, 1}, {render, 1}, {cut, 2}]).
-define(EVENTS, [calls, times, messages, spawns, gc, web]).

%% share: of the load's operations, so that a run of a dear way does not last for minutes; otp: the
%% VM that it needs, if not the one that is here.
-type way() :: #{name := atom(), title := string(), loads := [atom()], share := number(),
                 otp => string()}.
-type state() :: {atom(), term()}.
-export_type([way/0, state/0]).

-spec all() -> [way()].
all() ->
    [#{name => null, title => "a tracer NIF that does nothing", loads => ?EVENTS, share => 1},
     #{name => erltrace, title => "erltrace", loads => ?EVENTS, share => 1},
     #{name => fast, title => "erltrace, calls=fast", loads => [calls, times, web], share => 1},
     #{name => interp, title => "erltrace, interpreted", loads => ?EVENTS, share => 0.5},
     #{name => counters, title => "erltrace by the VM's counters", loads => [calls], share => 1},
     #{name => call_count, title => "call_count", loads => [calls], share => 1},
     #{name => call_time, title => "call_time", loads => [calls, times], share => 1},
     #{name => process, title => "a process (recon, redbug)", loads => ?EVENTS, share => 0.1},
     #{name => dbg, title => "dbg", loads => ?EVENTS, share => 0.1},
     #{name => dbg_file, title => "dbg to a file", loads => ?EVENTS, share => 0.1},
     #{name => eprof, title => "eprof", loads => [times], share => 0.2},
     #{name => fprof, title => "fprof", loads => [times], share => 0.05},
     #{name => notes, title => "our USDT probes, bpftrace", share => 0.1,
       loads => [calls, messages, spawns, gc]},
     #{name => kernel, title => "kernel engine, at receive", loads => [messages], share => 0.1} |
     case os:getenv("USDT_OTP") of
         Unset when Unset =:= false; Unset =:= "" -> [];
         Otp -> [#{name => usdt, title => "the VM's USDT probes, bpftrace", otp => Otp, share => 0.1,
                   loads => [messages, spawns, gc]}]
     end].

-spec way(atom()) -> way().
way(Name) ->
    [Way] = [W || #{name := N} = W <- all(), N =:= Name],
    Way.

%% Can it be had here? Why not, else. Asked in the node.
-spec here(atom(), atom()) -> ok | {no, string()}.
here(Way, _) when Way =:= eprof; Way =:= fprof -> module(Way, "erlang-tools");
here(Way, _) when Way =:= dbg; Way =:= dbg_file -> module(dbg, "erlang-runtime-tools");
here(Way, Load) when Way =:= notes; Way =:= usdt; Way =:= kernel ->
    case os:find_executable(element(1, program(Way, Load))) of
        false -> {no, "no " ++ element(1, program(Way, Load)) ++ " here"};
        _ when Way =:= kernel ->
            case string:trim(os:cmd("erltrace -qn 'syscall::getppid:entry { } BEGIN { exit(0); }'"
                                    " 2>&1")) of
                "" -> ok;
                Why -> {no, hd(string:split(Why, "\n"))}
            end;
        _ ->
            case string:trim(os:cmd("id -u")) of
                "0" -> ok;
                _ -> {no, "needs root"}
            end
    end;
here(fast, _) ->
    case erltrace_find:known(fast) of
        ok -> ok;
        {refused, Why} -> {no, "refused: " ++ binary_to_list(Why)}
    end;
here(_, _) -> ok.

module(Module, Package) ->
    case code:ensure_loaded(Module) of
        {module, _} -> ok;
        _ -> {no, "no " ++ Package ++ " here"}
    end.

%% ---- on and off -------------------------------------------------------------------------------

%% on: before the workers are; ready: they are there, and wait; done: the work has been done, and is
%% to be dealt with; off: messages that it took, and KB of memory in programs of its own.
-spec on(atom(), atom()) -> state().
on(nothing, _) -> {nothing, none};
on(null, Load) ->
    patterns(Load, true, [local]),
    _ = erlang:trace(new_processes, true, [{tracer, null_tracer, 1} | null_flags(Load)]),
    {null, Load};
on(erltrace, Load) -> {erltrace, open([{"counters", "off"}, {"calls", "traced"}], script(Load))};
on(fast, Load) -> {erltrace, open([{"counters", "off"}, {"calls", "fast"}], script(Load))};
on(interp, Load) -> {erltrace, open([{"counters", "off"}, {"jit", "off"}], script(Load))};
on(counters, Load) -> {erltrace, open([{"counters", "on"}], script(Load))};
on(Way, Load) when Way =:= call_count; Way =:= call_time ->
    patterns(Load, true, [Way]),
    [erlang:trace(new_processes, true, [call, {tracer, self()}]) || Way =:= call_time],
    {Way, Load};
on(process, Load) ->
    State = state(Load),
    Tracer = spawn(?MODULE, tracer, [State]),
    patterns(Load, spec(Load), [local]),
    _ = erlang:trace(new_processes, true, [{tracer, Tracer}, timestamp | flags(Load)]),
    {process, {Tracer, Load, State}};
on(dbg, Load) ->
    State = state(Load),
    {ok, _} = dbg:tracer(process, {fun seen/2, State}),
    {ok, Tracer} = dbg:get_tracer(),
    dbg_on(Load),
    {dbg, {Tracer, State}};
on(dbg_file, Load) ->
    File = temporary(),
    {ok, _} = dbg:tracer(port, dbg:trace_port(file, File)),
    dbg_on(Load),
    {dbg_file, File};
on(eprof, _) ->
    {ok, _} = eprof:start(),
    {eprof, none};
on(fprof, _) ->
    {fprof, temporary()};
on(notes, Load) ->
    H = open([], re:replace(script(Load), "(/[^/]*/)? *{[^}]*}", "{ usdt(); }",
                            [global, {return, list}])),
    {ok, Maps} = file:read_file("/proc/self/maps"),
    {match, [Library]} = re:run(Maps, "/\\S*/erltrace\\.so", [{capture, first, list}]),
    {notes, {H, program_on(notes, Load, Library)}};
on(Way, Load) when Way =:= usdt; Way =:= kernel ->
    {ok, Beam} = file:read_link("/proc/self/exe"),
    {Way, program_on(Way, Load, Beam)}.

-spec ready(state(), [pid()]) -> term().
ready({eprof, _}, Workers) -> profiling = eprof:start_profiling(Workers, {bench_loads, '_', '_'});
ready({fprof, File}, Workers) -> ok = fprof:trace([start, {procs, Workers}, {file, File}]);
ready(_, _) -> ok.

-spec done(state()) -> term().
done({process, {Tracer, _, _}}) ->
    delivered(),
    Tracer ! {last, self()},
    receive {last, Tracer} -> ok end;
done({dbg, {Tracer, _}}) ->
    delivered(),
    empty(Tracer);
done({dbg_file, _}) ->
    delivered(),
    dbg:flush_trace_port();
done({eprof, _}) -> profiling_stopped = eprof:stop_profiling();
done({fprof, _}) -> ok = fprof:trace(stop);
done(_) -> ok.

-spec off(state()) -> {Messages :: non_neg_integer(), Kilobytes :: non_neg_integer()}.
off({null, Load}) ->
    _ = erlang:trace(new_processes, false, null_flags(Load)),
    patterns(Load, false, [local]),
    {0, 0};
off({erltrace, H}) ->
    {ok, _} = erltrace:aggregations(H),
    ok = erltrace:close(H),
    {0, 0};
off({Way, Load}) when Way =:= call_count; Way =:= call_time ->
    _ = [erlang:trace_info({bench_loads, F, A}, Way) || {F, A} <- ?FUNCTIONS],
    [erlang:trace(new_processes, false, [call]) || Way =:= call_time],
    patterns(Load, false, [Way]),
    {0, 0};
off({process, {Tracer, Load, State}}) ->
    _ = erlang:trace(new_processes, false, [timestamp | flags(Load)]),
    patterns(Load, false, [local]),
    exit(Tracer, kill),
    {messages(State), 0};
off({dbg, {Tracer, State}}) ->
    M = monitor(process, Tracer),
    dbg:stop_clear(),
    receive {'DOWN', M, _, _, _} -> ok end,
    {messages(State), 0};
off({dbg_file, File}) ->
    dbg:stop_clear(),
    _ = file:delete(File),
    {0, 0};
off({eprof, _}) ->
    stopped = eprof:stop(),
    {0, 0};
off({fprof, File}) ->
    _ = fprof:stop(),
    _ = file:delete(File),
    {0, 0};
off({notes, {H, Program}}) ->
    Kb = program_off(Program),
    ok = erltrace:close(H),
    {0, Kb};
off({Way, Program}) when Way =:= usdt; Way =:= kernel -> {0, program_off(Program)};
off({nothing, _}) -> {0, 0}.

%% A way that is on until this process is told; then it answers what off/1 gives. For nodes that
%% are reached by distribution.
-spec hold(atom(), atom(), pid()) -> term().
hold(Way, Load, From) ->
    State = on(Way, Load),
    From ! {self(), on},
    receive off -> ok end,
    _ = done(State),
    From ! {self(), off(State)}.

temporary() -> filename:join("/tmp", "erltrace_bench_" ++ os:getpid() ++ ".trace").

delivered() ->
    Ref = erlang:trace_delivered(all),
    receive {trace_delivered, all, Ref} -> ok end.

empty(Process) ->
    case process_info(Process, message_queue_len) of
        {_, 0} -> ok;
        {_, _} -> timer:sleep(1), empty(Process)
    end.

%% ---- what is asked ----------------------------------------------------------------------------

called(Load) -> lists:member(Load, [calls, times, web]).

patterns(Load, Spec, Flags) ->
    [1 = erlang:trace_pattern({bench_loads, F, A}, Spec, Flags)
     || called(Load), {F, A} <- ?FUNCTIONS],
    ok.

spec(times) -> [{'_', [], [{return_trace}]}];
spec(_) -> [].

flags(calls) -> [call];
flags(times) -> [call];
flags(messages) -> [send];
flags(spawns) -> [procs];
flags(gc) -> [garbage_collection];
flags(web) -> [call, send, procs, garbage_collection].

null_flags(times) -> [call, arity, return_to];
null_flags(Load) -> flags(Load) ++ [arity || called(Load)].

dbg_on(Load) ->
    [{ok, _} = dbg:tpl(bench_loads, F, A, spec(Load)) || called(Load), {F, A} <- ?FUNCTIONS],
    {ok, _} = dbg:p(new_processes, [timestamp | flags(Load)]).

%% The D script.
-spec script(atom()) -> string().
script(calls) -> probes("function-entry") ++ "{ @calls[copyinstr(arg1)] = count(); }";
script(times) ->
    probes("function-entry") ++ "{ self->t[copyinstr(arg1)] = timestamp; }" ++
        probes("function-return") ++ "/self->t[copyinstr(arg1)]/"
        "{ @times[copyinstr(arg1)] = lquantize((timestamp - self->t[copyinstr(arg1)]) / 1000, 0, 63, 2);"
        " self->t[copyinstr(arg1)] = 0; }";
script(messages) -> "erlang*:::message-send { @sent[copyinstr(arg0)] = count(); }";
script(spawns) ->
    "erlang*:::process-spawn { @born[copyinstr(arg1)] = count(); }"
        "erlang*:::process-exit { @died[copyinstr(arg1)] = count(); }";
script(gc) ->
    "erlang*:::gc_minor-start { self->t = timestamp; }"
        "erlang*:::gc_minor-end /self->t/ { @gc = quantize(timestamp - self->t); self->t = 0; }";
script(web) ->
    script(calls) ++ script(messages) ++ script(spawns) ++ script(gc).

probes(Name) ->
    lists:join(",", [["erlang*:bench_loads:", atom_to_list(F), ":", Name] || {F, _} <- ?FUNCTIONS]).

open(Options, Script) ->
    {ok, H} = erltrace:open(),
    [ok = erltrace:setopt(H, Name, Value) || {Name, Value} <- [{"watchdog", "0"} | Options]],
    ok = erltrace:compile(H, lists:flatten(Script)),
    ok = erltrace:go(H),
    H.

%% ---- a process that is sent the events --------------------------------------------------------

%% It makes of them what the script makes.
-spec tracer(map()) -> term().
tracer(S) ->
    receive
        {last, From} -> From ! {last, self()}, tracer(S);
        Event -> tracer(seen(Event, S))
    end.

state(Load) -> #{load => Load, messages => counters:new(1, [])}.

messages(#{messages := C}) -> counters:get(C, 1).

seen(Event, #{messages := C} = S) ->
    counters:add(C, 1, 1),
    see(Event, S).

see({trace_ts, Pid, call, MFA, T}, #{load := times} = S) -> S#{{Pid, key(MFA)} => T};
see({trace_ts, _, call, MFA, _}, S) -> count({call, key(MFA)}, S);
see({trace_ts, Pid, return_from, MFA, _, T}, S) ->
    Key = key(MFA),
    case S of
        #{{Pid, Key} := T0} ->
            count({Key, min(timer:now_diff(T, T0) div 2, 32)}, maps:remove({Pid, Key}, S));
        _ -> S
    end;
see({trace_ts, Pid, send, _, _, _}, S) -> count({send, Pid}, S);
see({trace_ts, _, spawn, _, MFA, _}, S) -> count({spawn, key(MFA)}, S);
see({trace_ts, _, exit, Reason, _}, S) -> count({exit, Reason}, S);
see({trace_ts, Pid, gc_minor_start, _, T}, S) -> S#{Pid => T};
see({trace_ts, Pid, gc_minor_end, _, T}, S) ->
    case S of
        #{Pid := T0} -> count({gc, min(timer:now_diff(T, T0), 100)}, maps:remove(Pid, S));
        _ -> S
    end;
see(_, S) -> S.

count(Key, S) -> maps:update_with(Key, fun(N) -> N + 1 end, 1, S).

key({M, F, A}) when is_list(A) -> {M, F, length(A)};
key(MFA) -> MFA.

%% ---- programs ---------------------------------------------------------------------------------

program(kernel, messages) -> {"erltrace", "erlang*:::message-receive { @[copyinstr(arg0)] = count(); }"};
program(_, calls) -> {"bpftrace", "function__entry { @[str(arg1)] = count(); }"};
program(_, messages) -> {"bpftrace", "message__send { @[str(arg0)] = count(); }"};
program(_, spawns) ->
    {"bpftrace", "process__spawn { @born[str(arg1)] = count(); } process__exit { @died[str(arg1)] = count(); }"};
program(_, gc) ->
    {"bpftrace", "gc_minor__start { @t[tid] = nsecs; } "
     "gc_minor__end /@t[tid]/ { @ = hist(nsecs - @t[tid]); delete(@t[tid]); }"}.

%% It looks at this process, and says "on" when it does.
program_on(Way, Load, File) ->
    {Name, Text} = program(Way, Load),
    Args = case Name of
               "erltrace" -> ["-p", os:getpid(), "-qn", "BEGIN { printf(\"on\\n\"); }" ++ Text];
               "bpftrace" ->
                   ["-B", "line", "-p", os:getpid(), "-e", "BEGIN { printf(\"on\\n\"); } " ++
                        re:replace(Text, "[a-z_]+__[a-z]+", "usdt:" ++ File ++ ":erlang:&",
                                   [global, {return, list}])]
           end,
    Port = open_port({spawn_executable, os:find_executable(Name)},
                     [{args, Args}, {line, 1000}, exit_status, stderr_to_stdout]),
    says_on(Port, []),
    Port.

says_on(Port, Said) ->
    receive
        {Port, {data, {_, "on"}}} -> ok;
        {Port, {data, {_, Line}}} -> says_on(Port, [Line | Said]);
        {Port, {exit_status, _}} -> exit({program, lists:reverse(Said)})
    after 60000 -> exit({program, lists:reverse(Said)})
    end.

program_off(Port) ->
    {os_pid, Pid} = erlang:port_info(Port, os_pid),
    Kb = bench_lib:peak(integer_to_list(Pid)),
    _ = os:cmd("kill -TERM " ++ integer_to_list(Pid)),
    ended(Port),
    Kb.

ended(Port) ->
    receive
        {Port, {exit_status, _}} -> ok;
        {Port, {data, _}} -> ended(Port)
    after 60000 -> exit(program_does_not_end)
    end.
